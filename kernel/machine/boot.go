package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Exit statuses of QEMU that the kernel gives through the debug-exit device.
const (
	endClean    = 33 // init ended with status 0
	endStatus   = 35 // … with another one
	endSignal   = 37 // … by a signal
	endCrash    = 39 // the kernel crashed
	endServices = 41 // services ended
	endBoot     = 43 // init was never started
)

// boot runs QEMU and judges its end.
func (c Config) boot(ctx context.Context, args []string) (Result, error) {
	r := Result{Command: append([]string{emulator}, args...)}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, emulator, args...)
	cmd.WaitDelay = 10 * time.Second
	// A quiet kernel says nothing before its program does.
	watch := &console{output: c.Output, booted: slices.Contains(strings.Fields(c.Append), "quiet")}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Input, watch, &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return r, fmt.Errorf("machine: %w (Debian: qemu-system-x86)", err)
	}
	watch.started(begin, cmd.Process.Pid)
	stop := make(chan struct{})
	var sampler sync.WaitGroup
	sampler.Go(func() { watch.sample(stop) })
	err := cmd.Wait()
	r.Wall = time.Since(begin)
	close(stop)
	sampler.Wait()
	watch.into(&r)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("machine: %w", err)
	}
	if err := r.judge(cmd.ProcessState.ExitCode(), c.Kernel == ""); err != nil {
		return r, fmt.Errorf("%w%s", err, tail(stderr.Bytes()))
	}
	return r, nil
}

var (
	exitLine  = regexp.MustCompile(`EXIT status=(\d+)(?: signal=(\d+))?\r?\n`)
	panicLine = regexp.MustCompile(`Kernel panic - not syncing: Attempted to kill init! exitcode=0x([0-9a-f]{8})`)
)

// judge sets Status and Signal from QEMU's exit status and the number that goes
// with it, or returns why there is none.
func (r *Result) judge(code int, ours bool) error {
	switch code {
	case endClean:
		return nil
	case endStatus, endSignal:
		lines := exitLine.FindAllSubmatch(r.Console, -1)
		if lines == nil {
			return fmt.Errorf("%w: QEMU's status %d without the kernel's last line", ErrEnd, code)
		}
		last := lines[len(lines)-1]
		r.Status, _ = strconv.Atoi(string(last[1]))
		r.Signal, _ = strconv.Atoi(string(last[2]))
		return nil
	case endCrash:
		return ErrCrash
	case endServices:
		return ErrServices
	case endBoot:
		return ErrBoot
	case 0:
		// Mainline: init's end is a panic, which resets the machine. Without
		// one the program has reset it.
		if ours {
			break
		}
		if m := panicLine.FindSubmatch(r.Console); m != nil {
			wait, _ := strconv.ParseUint(string(m[1]), 16, 32)
			r.Status, r.Signal = int(wait>>8&0xff), int(wait&0x7f)
			if r.Signal != 0 {
				r.Status = 128 + r.Signal
			}
		} else if bytes.Contains(r.Console, []byte("Kernel panic")) {
			return ErrCrash
		}
		return nil
	}
	return fmt.Errorf("%w: QEMU ended with status %d", ErrEnd, code)
}

// tail returns QEMU's last messages, less its warnings about features that it
// does not emulate.
func tail(stderr []byte) string {
	var out bytes.Buffer
	for line := range bytes.Lines(stderr) {
		if !bytes.Contains(line, []byte("TCG doesn't support requested feature")) {
			out.Write(line)
		}
	}
	text := bytes.TrimSpace(out.Bytes())
	if len(text) == 0 {
		return ""
	}
	return "\n" + string(text)
}
