package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// modeEmulated is a process under QEMU's translator (TCG), in user mode, as a
// processor without AVX-512: integer instructions cost it far less than
// floating-point ones, of which it computes each by itself.
const (
	modeEmulated = "emulated"
	emulator     = "qemu-x86_64"
	emulatedCPU  = "Skylake-Client"
	emulatedForm = "f32" // beside q8b32
)

// Tokens of the emulated runs: decoded for the rate, and those of two runs
// whose difference tells the instructions of a token.
const (
	emulatedTokens = 6
	countedTokens  = 2
)

// emulated measures decoding under the emulator by `infer bench`, and counts the
// instructions of a token.
func (t *taker) emulated(ctx context.Context, i item) (func(*sample) (time.Duration, error), error) {
	if _, err := exec.LookPath(emulator); err != nil {
		return nil, fmt.Errorf("no %s (Debian: qemu-user)", emulator)
	}
	model, err := t.library.path(ctx, i.Form)
	if err != nil {
		return nil, err
	}
	plugin, err := t.tools.plugin(ctx, "instructions.c")
	if err != nil {
		return nil, err
	}
	return func(x *sample) (own time.Duration, err error) {
		x.Values = map[string]float64{}
		// A short prompt, so that all but the tokens is alike.
		generate := func(n int) (float64, error) {
			_, complaints, took, err := t.emulate(ctx, []string{"-plugin", plugin}, "run", "-m", model, "-p", "The", "-n", strconv.Itoa(n), "--ignore-eos", "--draft-max", "0", "-t", "1", "-q")
			own += took
			if err != nil {
				return 0, err
			}
			return instructions(complaints)
		}
		few, err := generate(1)
		if err != nil {
			return own, err
		}
		more, err := generate(1 + countedTokens)
		if err != nil {
			return own, err
		}
		out, _, took, err := t.emulate(ctx, nil, "bench", "-m", model, "-p", "0", "-n", strconv.Itoa(emulatedTokens), "-t", "1", "-r", "1", "-o", "json")
		own += took
		if err != nil {
			return own, err
		}
		var row struct {
			ISA  string `json:"isa"`
			Rate struct {
				Median float64 `json:"median"`
			} `json:"tokens_per_second"`
		}
		if err := json.Unmarshal(out, &row); err != nil || row.Rate.Median <= 0 {
			return own, fmt.Errorf("infer bench gave %.100q", out)
		}
		if row.ISA != "avx2" {
			return own, fmt.Errorf("under %s as %s it runs %s, not avx2", emulator, emulatedCPU, row.ISA)
		}
		x.Values[keyEmulated] = row.Rate.Median
		x.Values[keyInstructions] = (more - few) / countedTokens / t.weights
		x.Version = t.tools.emulatorVersion(ctx)
		return own, nil
	}, nil
}

// emulate runs infer under the emulator.
func (t *taker) emulate(ctx context.Context, flags []string, args ...string) (out, complaints []byte, own time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, sampleLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, emulator, append(append([]string{"-cpu", emulatedCPU}, flags...), append([]string{t.infer}, args...)...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if cmd.ProcessState != nil {
		own = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%s took more than %v", emulator, sampleLimit)
	case err != nil:
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", emulator, err, lines[len(lines)-1])
	}
	return stdout.Bytes(), stderr.Bytes(), own, err
}

// instructions finds the count that the plugin wrote among QEMU's warnings.
func instructions(complaints []byte) (float64, error) {
	for line := range bytes.Lines(complaints) {
		var e event
		if json.Unmarshal(line, &e) == nil && e.Event == "instructions" && e.Value > 0 {
			return e.Value, nil
		}
	}
	return 0, errors.New("the emulator's plugin told no count")
}

// plugin returns a plugin of the emulator, which it builds if it is not there.
func (t *toolbox) plugin(ctx context.Context, program string) (string, error) {
	return t.compile(ctx, &engine{program: program, shared: true})
}

// emulatorVersion is the first line of what the emulator says of itself.
func (t *toolbox) emulatorVersion(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, emulator, "--version").Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line + " as " + emulatedCPU
}
