package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A one is a machine with one seed.
type one struct {
	dir     string
	config  machine.Config
	seed    uint64
	silence time.Duration
	trace   bool

	end       string // how it ended
	registers string // of a machine that had stopped
	console   []byte

	mu   sync.Mutex
	last time.Time // when the machine last said something
}

// What is wrong with a kernel, apart from what package machine knows.
var (
	errStopped = errors.New("the machine says nothing any more")
	errPanic   = errors.New("services panicked")
	errStrange = errors.New("a call returned what no call may")
)

func (o *one) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
	return len(p), nil
}

// run boots the machine and adds what it counted. Its error is a fault of the
// kernel.
func (o *one) run(ctx context.Context, all *tally) error {
	all.machines++
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	monitor := filepath.Join(o.dir, fmt.Sprintf("monitor-%d", o.seed))
	o.config.QEMU = append(o.config.QEMU, "-monitor", "unix:"+monitor+",server=on,wait=off")
	o.config.Output = o
	o.last = time.Now()
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { o.watch(done, monitor, cancel) })
	result, err := machine.Run(ctx, o.config)
	close(done)
	watcher.Wait()
	o.console = bytes.ReplaceAll(result.Console, []byte("\r\n"), []byte("\n"))
	complete, counted := all.add(o.console)
	switch {
	case err != nil:
		o.end = "failed"
		return err
	case complete:
		o.end = "made its calls"
	case result.Signal != 0:
		o.end = fmt.Sprintf("died of signal %d", result.Signal)
	default:
		o.end = fmt.Sprintf("gave up with status %d", result.Status)
	}
	if counted == 0 {
		o.end += " before anything was counted"
	}
	switch {
	case bytes.Contains(o.console, []byte("panic: ")):
		return errPanic
	case bytes.Contains(o.console, []byte("\nSTRANGE ")):
		return errStrange
	}
	return nil
}

// watch ends a machine that says nothing for too long, having asked what its
// processors do.
func (o *one) watch(done <-chan struct{}, monitor string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		o.mu.Lock()
		quiet := time.Since(o.last)
		o.mu.Unlock()
		if quiet < o.silence {
			continue
		}
		ask(monitor, "nmi")
		for range 3 {
			o.registers += ask(monitor, "info registers -a")
			time.Sleep(100 * time.Millisecond)
		}
		cancel(errStopped)
		return
	}
}

var registers = regexp.MustCompile(`(?m)^(CPU#\d+|R[A-Z0-9]{2}=.*|RIP=.*|CR0=.*)$`)

// ask puts a question to QEMU's monitor.
func ask(monitor, question string) string {
	c, err := net.Dial("unix", monitor)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(c, question+"\n"); err != nil {
		return err.Error()
	}
	text, _ := io.ReadAll(c) // until the deadline
	return strings.Join(registers.FindAllString(strings.ReplaceAll(string(text), "\r", ""), -1), "\n") + "\n\n"
}

// evidence is what a fault can be reproduced and understood by.
func (o *one) evidence() string {
	text := string(o.console)
	if i := strings.Index(text, "*** "); i >= 0 {
		from := max(0, i-3000)
		if !o.trace {
			from = i
		}
		return text[from:]
	}
	if i := strings.Index(text, "panic: "); i >= 0 {
		return text[max(0, strings.LastIndexByte(text[:i], '\n')):min(len(text), i+3000)]
	}
	var lines []string
	for line := range strings.Lines(text) {
		if o.trace || !strings.HasPrefix(line, "COUNT ") && !strings.HasPrefix(line, "BEAT ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-40):], "") + o.registers
}
