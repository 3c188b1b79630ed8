package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// sampleLimit is how long a sample may take before its program is ended.
const sampleLimit = 2 * time.Minute

// process runs a program to its end and returns its events, when it was
// started, and the processor time that it took.
func process(ctx context.Context, argv, env []string) (events []event, started float64, own time.Duration, err error) {
	r := &reader{read: readEvents}
	started, own, err = r.run(ctx, argv, env)
	return r.events, started, own, err
}

// A reader runs a program and reads its standard output.
type reader struct {
	read   func(io.Reader) ([]event, error)
	events []event
}

func (r *reader) run(ctx context.Context, argv, env []string) (started float64, own time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 2 * time.Second
	complaints := &tail{limit: 4 << 10}
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	started = monotonic()
	if err := cmd.Start(); err != nil {
		return started, 0, err
	}
	events, readErr := r.read(out)
	r.events = events
	if readErr != nil {
		cancel()
	}
	err = cmd.Wait()
	own = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return started, own, fmt.Errorf("took more than %v", sampleLimit)
	case readErr != nil:
		return started, own, readErr
	case ctx.Err() != nil:
		return started, own, ctx.Err()
	}
	for _, e := range events {
		if e.Event == "error" {
			return started, own, errors.New(e.Reason)
		}
	}
	if err != nil {
		if last := complaints.lastLine(); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
	}
	return started, own, err
}

// A tail keeps the end of what is written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if n := len(t.kept) - t.limit; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	return len(b), nil
}

func (t *tail) lastLine() string {
	lines := bytes.Split(bytes.TrimSpace(t.kept), []byte("\n"))
	return strings.TrimSpace(string(lines[len(lines)-1]))
}

// values takes a sample's values from a program's events.
func values(x *sample, events []event, started float64, interpreted bool) error {
	if x.Values == nil {
		x.Values = map[string]float64{}
	}
	var begin, imported float64
	ended := false
	for _, e := range events {
		switch e.Event {
		case "begin":
			begin = e.T
		case "imported":
			imported = e.T
			x.Version = e.Version
			if interpreted {
				x.Values[keyImport] = imported - begin
			}
		case "loaded":
			x.Values[keyLoad] = e.T - imported
		case "step":
			x.step(e, started, begin, interpreted)
		case keyFMA, keyReadHuge, keyReadSmall:
			x.Values[e.Event] = e.Value
		case "end":
			ended = true
		}
	}
	if !ended {
		return errors.New("the program ended before its end")
	}
	return sameTokens(events)
}

// sameTokens holds the tokens with drafts against those without.
func sameTokens(events []event) error {
	for _, a := range events {
		for _, b := range events {
			if a.Event == "step" && a.Name+"_draft" == b.Name && !slices.Equal(a.IDs, b.IDs) {
				return fmt.Errorf("%s: drafts changed the tokens", a.Name)
			}
		}
	}
	return nil
}

// step takes the values of one step.
func (x *sample) step(e event, started, begin float64, interpreted bool) {
	best := func(key string, rate float64) { x.Values[key] = max(x.Values[key], rate) }
	rate := 0.0
	if e.Count > 1 && e.Last > e.First {
		rate = float64(e.Count-1) / (e.Last - e.First)
	}
	prompt := e.First - e.Start
	switch e.Name {
	case "first":
		x.Values[keyWarmFirst] = prompt
		if x.Task != taskShort {
			return
		}
		x.Values[keyFirstAll] = e.First - started
		x.Values[keyFirst] = e.First - started
		if interpreted {
			x.Values[keyFirst] = e.First - begin
		}
		x.Values[keyMemory] = float64(e.RSS)
		x.remember(e)
	case "chat":
		x.remember(e)
	case "decode":
		x.Values[keyDecode] = rate
		x.Values[keyWarmFirst] = prompt
		if e.Read > 0 {
			x.Values[keyRead], x.Values[keyBytes] = e.Read, float64(e.Bytes)
			x.Values[keyRatio] = rate * float64(e.Bytes) / e.Read
		}
	case "prefill":
		if prompt > 0 {
			best(keyPrefill, prefill/prompt)
		}
	case "deep":
		x.Values[keyDeep] = rate
		if prompt > 0 {
			x.Values[keyDeepPrefill] = deepContext / prompt
		}
	case "busy":
		x.Values[keyBusy] = rate
	case keyCode, keyCodeDraft, keyRewrite, keyRewriteDraft, keyProse, keyProseDraft, keyBatchOne, keyBatch:
		best(e.Name, rate)
	}
}

// remember keeps the tokens of a step.
func (x *sample) remember(e event) {
	if len(e.IDs) > 0 {
		if x.Tokens == nil {
			x.Tokens = map[string][]int{}
		}
		x.Tokens[e.Name] = e.IDs
	} else if e.Text != "" {
		if x.Texts == nil {
			x.Texts = map[string]string{}
		}
		x.Texts[e.Name] = e.Text
	}
}
