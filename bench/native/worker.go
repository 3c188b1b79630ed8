package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
	model, err := llama.Open(r.Model, &llama.Options{Threads: r.Threads, ISA: r.ISA, Memory: memory, Activations: r.Variant})
	if err != nil {
		return err
	}
	defer model.Close()
	w.Encode(event{Event: "loaded", T: monotonic()})
	for _, s := range r.Steps {
		e := event{Event: "step", Name: s.Name}
		reads := s.Name == "decode" // between two plain reads
		if reads {
			if e.Read, e.Bytes, err = model.ReadRate(readTime); err != nil {
				return err
			}
		}
		generate := one
		if s.Sessions > 1 {
			generate = together
		}
		if err := generate(ctx, model, &s, &e); err != nil {
			return fmt.Errorf("step %s: %w", s.Name, err)
		}
		if reads {
			after, _, err := model.ReadRate(readTime)
			if err != nil {
				return err
			}
			e.Read = (e.Read + after) / 2
		}
		e.RSS = peakMemory()
		w.Encode(e)
	}
	return w.Encode(event{Event: "end", T: monotonic()})
}

// one generates a step's tokens in a session of its own.
func one(ctx context.Context, model *llama.Model, s *step, e *event) error {
	return session(ctx, model, s, e, func() {})
}

// session is one, and calls first when the first token is there.
func session(ctx context.Context, model *llama.Model, s *step, e *event, first func()) error {
	session, err := model.NewSession(&llama.SessionOptions{Context: len(s.IDs) + s.Tokens})
	if err != nil {
		return err
	}
	defer session.Close()
	e.IDs = make([]int, 0, s.Tokens)
	e.Start = monotonic()
	draft := -1 // a token a pass, unless the step is about drafts
	if s.Draft {
		draft = 0
	}
	for token, err := range session.Generate(ctx, s.IDs, &llama.GenerateOptions{MaxTokens: s.Tokens, IgnoreEOS: true, DraftMax: draft}) {
		if err != nil {
			return err
		}
		e.Last = monotonic()
		if e.Count == 0 {
			first()
			e.First = monotonic()
		}
		e.IDs = append(e.IDs, token.ID)
		e.Count++
	}
	if e.Count != s.Tokens {
		return fmt.Errorf("%d tokens, expected %d", e.Count, s.Tokens)
	}
	return nil
}

// together generates a step's tokens in each of several sessions at once, whose
// prompts differ in their first token. The time is from when all have their
// first token to when all have their last; the count is that of all tokens that
// come in it, and one.
func together(ctx context.Context, model *llama.Model, s *step, e *event) error {
	var ready, done sync.WaitGroup
	ready.Add(s.Sessions)
	events, errs := make([]event, s.Sessions), make([]error, s.Sessions)
	for i := range s.Sessions {
		each := *s
		each.IDs = slices.Clone(s.IDs)
		each.IDs[0] = s.IDs[i%len(s.IDs)]
		arrive := sync.OnceFunc(ready.Done)
		done.Go(func() {
			defer arrive()
			errs[i] = session(ctx, model, &each, &events[i], func() { arrive(); ready.Wait() })
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	*e = event{Event: e.Event, Name: e.Name, Start: events[0].Start, First: events[0].First, Last: events[0].Last, Count: 1, IDs: events[0].IDs}
	for i := range events {
		e.First, e.Last = min(e.First, events[i].First), max(e.Last, events[i].Last)
		e.Count += events[i].Count - 1
	}
	return nil
}

// readTime is how long plain reads are measured for, before and after decoding.
const readTime = 100 * time.Millisecond

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
