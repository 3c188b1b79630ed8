package native

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A request is what an engine's program is asked to do. Programs in Python, and
// this binary, get it as JSON in their only argument; programs in C get
// arguments (cArgs).
type request struct {
	Model   string `json:"model"`
	Variant string `json:"variant"`
	Threads int    `json:"threads"`
	Context int    `json:"context"` // positions that no step exceeds
	Steps   []step `json:"steps"`
	// Ours.
	Mode string `json:"mode,omitempty"`
	ISA  string `json:"isa,omitempty"`
}

// A step generates Tokens tokens greedily after a prompt in an empty context,
// and does not stop at an end of text. The prompt is given as token ids and,
// for engines that take nothing else, as text that has these ids.
type step struct {
	Name   string `json:"name"`
	IDs    []int  `json:"ids"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// Ours: sessions that do this at once, if more than one, and whether tokens
	// are drafted.
	Sessions int  `json:"sessions,omitempty"`
	Draft    bool `json:"draft,omitempty"`
}

// An event is one line that a program writes to its standard output. Times are
// in seconds of CLOCK_MONOTONIC.
type event struct {
	// Event is, in this order, "begin" (the program runs), "imported" (what it is
	// built on is there), "loaded" (the model can be used), "step" for each step,
	// "end"; or "error".
	Event string  `json:"event"`
	T     float64 `json:"t"`

	Version string `json:"version"` // imported: the engine's
	Reason  string `json:"reason"`  // error

	Name  string  `json:"name"`  // step
	First float64 `json:"first"` // step: when the first token was there
	Start float64 `json:"start"` // step: when it began
	Last  float64 `json:"last"`  // step: when the last token was there
	IDs   []int   `json:"ids"`   // step: the tokens
	Text  string  `json:"text"`  // step: their text, from engines that do not tell ids
	Count int     `json:"count"` // step: how many
	RSS   int64   `json:"rss"`   // step: the peak of resident memory, in bytes
	Read  float64 `json:"read"`  // step, ours: plain reads of the weights around it, in bytes a second
	Bytes int64   `json:"bytes"` // step, ours: what a token reads
	Value float64 `json:"value"` // peak: in units a second
}

// maxLine bounds a line of a program's output.
const maxLine = 1 << 20

// readEvents reads a program's events. Lines that are not JSON objects are
// skipped: some libraries write to standard output. More events than any
// program has are an error.
func readEvents(r io.Reader) ([]event, error) {
	var events []event
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil || e.Event == "" {
			continue
		}
		if len(events) == 1000 {
			return nil, fmt.Errorf("more than %d events", len(events))
		}
		events = append(events, e)
	}
	return events, lines.Err()
}

// cArgs are the arguments of a program in C: model, threads, context, and
// name:tokens:id,id,… for each step.
func (r *request) cArgs() []string {
	args := []string{r.Model, strconv.Itoa(r.Threads), strconv.Itoa(r.Context)}
	for _, s := range r.Steps {
		var ids strings.Builder
		for i, id := range s.IDs {
			if i > 0 {
				ids.WriteByte(',')
			}
			ids.WriteString(strconv.Itoa(id))
		}
		args = append(args, fmt.Sprintf("%s:%d:%s", s.Name, s.Tokens, &ids))
	}
	return args
}

// jsonArg is the argument of other programs.
func (r *request) jsonArg() (string, error) {
	b, err := json.Marshal(r)
	return string(b), err
}
