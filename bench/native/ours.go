package native

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Modes in which our weights lie.
const (
	modeMapped = "mapped"
	modeHuge   = "huge"
)

// inferFirst measures what begins with the start of a process by the command
// that users start: `infer run`, with the prompt of 5 tokens.
func inferFirst(ctx context.Context, infer string, r *request, x *sample) (own time.Duration, err error) {
	s := r.Steps[0]
	argv := []string{
		infer, "run", "-m", r.Model, "-p", s.Text, "-n", strconv.Itoa(s.Tokens), "--ignore-eos", "--json",
		"-t", strconv.Itoa(r.Threads),
	}
	if r.Mode == modeHuge {
		argv = append(argv, "--huge")
	}
	if r.Variant != "" {
		argv = append(argv, "--activations", r.Variant)
	}
	if r.ISA != "" {
		argv = append(argv, "--isa", r.ISA)
	}
	var result inferResult
	p := &reader{read: func(out io.Reader) ([]event, error) { return nil, result.read(out) }}
	started, own, err := p.run(ctx, argv, nil)
	if err != nil {
		return own, err
	}
	if result.Type != "result" || result.first == 0 {
		return own, errors.New("infer run gave no result")
	}
	x.Values = map[string]float64{
		keyFirst: result.first - started, keyFirstAll: result.first - started,
		keyLoad: result.LoadMS / 1e3, keyMemory: float64(result.RSSBytes),
	}
	x.Tokens = map[string][]int{"first": result.Tokens}
	return own, nil
}

// inferResult is what the rig needs of the result of `infer run --json`
// (docs/infer.md).
type inferResult struct {
	Type     string  `json:"type"`
	Tokens   []int   `json:"tokens"`
	LoadMS   float64 `json:"load_ms"`
	RSSBytes int64   `json:"rss_bytes"`

	first float64 // when the line of the first token was read
}

// read reads the lines of infer's output. The time of the first includes its
// way through the pipe.
func (r *inferResult) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if r.first == 0 {
			r.first = monotonic()
		}
		var line inferResult
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("infer run: %q is no JSON", lines.Text())
		}
		if line.Type == "result" {
			line.first = r.first
			*r = line
		}
	}
	return lines.Err()
}
