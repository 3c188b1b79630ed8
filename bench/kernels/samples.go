package kernels

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A clock is what a run measures time with.
type clock string

const (
	wall         clock = "wall"
	instructions clock = "instructions"
)

// A run is one boot of one kernel with the workload program.
type run struct {
	Kernel  string
	Clock   clock
	Round   int
	Kind    kind
	Samples map[string][]float64 // by workload
	Units   map[string]string    // by workload
	Skipped map[string]string    // workload → error
	Failed  string               // why there is nothing, or not everything

	Console []byte `json:"-"` // all that was said
}

// errCut says that a console ended before the program did.
var errCut = errors.New(`the console has no line "BENCH DONE"`)

// parse reads the program's lines out of a console. Lines may end in CR LF, and
// what is before RESULT in a line (an emulator's escape sequences) is skipped.
func (r *run) parse(console string) error {
	r.Samples, r.Units, r.Skipped = map[string][]float64{}, map[string]string{}, map[string]string{}
	done := false
	for line := range strings.Lines(console) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.Contains(line, "RESULT "):
			_, rest, _ := strings.Cut(line, "RESULT ")
			f := strings.Fields(rest)
			if len(f) != 3 {
				return fmt.Errorf("line %q: want RESULT, a name, a value, a unit", line)
			}
			v, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				return fmt.Errorf("line %q: %w", line, err)
			}
			r.Samples[f[0]] = append(r.Samples[f[0]], v)
			r.Units[f[0]] = f[2]
		case strings.HasPrefix(line, "SKIP "):
			name, reason, _ := strings.Cut(line[len("SKIP "):], " ")
			r.Skipped[name] = reason
		case line == "BENCH DONE":
			done = true
		}
	}
	if !done {
		return errCut
	}
	return nil
}
