package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// workerCommand and spinCommand are hidden subcommands, for this binary's own
// children.
const (
	workerCommand = "worker"
	spinCommand   = "spin"
)

// worker runs a request with pkg/llama and writes events, as the programs in
// peers do with their engines.
func worker(ctx context.Context, arg string, out io.Writer) error {
	w := json.NewEncoder(out)
	w.Encode(event{Event: "begin", T: monotonic()})
	var r request
	if err := json.Unmarshal([]byte(arg), &r); err != nil {
		return err
	}
	w.Encode(event{Event: "imported", T: monotonic(), Version: runtime.Version()})
	memory := safetensors.Mapped
	if r.Mode == modeHuge {
		memory = safetensors.Huge
	}
	model, err := llama.Open(r.Model, &llama.Options{Threads: r.Threads, ISA: r.ISA, Memory: memory})
	if err != nil {
		return err
	}
	defer model.Close()
	w.Encode(event{Event: "loaded", T: monotonic()})
	weights, err := openWeights(r.Model, memory)
	if err != nil {
		return err
	}
	defer weights.close()
	isa, err := simd.ParseISA(model.Info().ISA)
	if err != nil {
		return err
	}
	for _, s := range r.Steps {
		e := event{Event: "step", Name: s.Name}
		if s.Name == "decode" {
			weights.read(isa, r.Threads, 0)
			e.Read, e.Bytes = weights.read(isa, r.Threads, readTime), weights.bytes
		}
		if err := run(ctx, model, &s, &e); err != nil {
			return fmt.Errorf("step %s: %w", s.Name, err)
		}
		if s.Name == "decode" {
			e.Read = (e.Read + weights.read(isa, r.Threads, readTime)) / 2
		}
		e.RSS = peakMemory()
		w.Encode(e)
	}
	return w.Encode(event{Event: "end", T: monotonic()})
}

// run generates a step's tokens in a session of its own.
func run(ctx context.Context, model *llama.Model, s *step, e *event) error {
	session, err := model.NewSession(&llama.SessionOptions{Context: len(s.IDs) + s.Tokens})
	if err != nil {
		return err
	}
	defer session.Close()
	e.IDs = make([]int, 0, s.Tokens)
	e.Start = monotonic()
	for token, err := range session.Generate(ctx, s.IDs, &llama.GenerateOptions{MaxTokens: s.Tokens, IgnoreEOS: true}) {
		if err != nil {
			return err
		}
		e.Last = monotonic()
		if e.Count == 0 {
			e.First = e.Last
		}
		e.IDs = append(e.IDs, token.ID)
		e.Count++
	}
	if e.Count != s.Tokens {
		return fmt.Errorf("%d tokens, expected %d", e.Count, s.Tokens)
	}
	return nil
}

// readTime is how long plain reads are measured for, before and after decoding.
const readTime = 100 * time.Millisecond

// weightBytes are the weights that a token reads.
type weightBytes struct {
	checkpoint *checkpoint.Checkpoint
	data       [][]byte
	bytes      int64
}

// openWeights opens a model's weights once more, in the same kind of pages.
func openWeights(path string, memory safetensors.Memory) (*weightBytes, error) {
	c, err := checkpoint.Open(path, &checkpoint.Options{Memory: memory})
	if err != nil {
		return nil, err
	}
	w := &weightBytes{checkpoint: c}
	_, err = c.Tensor("lm_head.weight")
	untied := err == nil
	for _, n := range c.Names() {
		if untied && n == "model.embed_tokens.weight" {
			continue // a token reads one row of it
		}
		t, err := c.Tensor(n)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		w.data = append(w.data, t.Data)
		w.bytes += int64(len(t.Data))
	}
	return w, nil
}

func (w *weightBytes) close() { w.checkpoint.Close() }

// read reads all bytes over and over for about the given time, each thread a
// part of every tensor, and returns the bytes read in a second.
func (w *weightBytes) read(isa simd.ISA, threads int, atLeast time.Duration) float64 {
	return simd.New(isa).ReadRate(w.data, threads, atLeast)
}

// peakMemory is VmHWM of /proc/self/status (proc_pid_status(5)), in bytes.
func peakMemory() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// spinner takes one processor until it is killed, or its parent is gone and
// standard input ends.
func spinner(arg string) error {
	processor, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := pin(processor); err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		spin(1 << 24)
	}
}
