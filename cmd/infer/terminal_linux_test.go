package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// pty is a pseudo-terminal (pts(4)): the program gets tty, the test plays the
// person at master.
type pty struct {
	master, tty *os.File

	mu  sync.Mutex
	out bytes.Buffer // what the program has shown
}

func newPTY(t *testing.T) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	p := &pty{master: master, tty: tty}
	t.Cleanup(func() {
		tty.Close()
		master.Close()
	})
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			p.mu.Lock()
			p.out.Write(b[:n])
			p.mu.Unlock()
		}
	}()
	return p
}

// screen returns what the program has shown.
func (p *pty) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// wait waits until the program has shown a text so many times.
func (p *pty) wait(t *testing.T, text string, times int) {
	t.Helper()
	for range 400 {
		if strings.Count(p.screen(), text) >= times {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the terminal shows %q, want %q %d times", p.screen(), text, times)
}

func TestChatAtTerminal(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	p := newPTY(t)
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), []string{"run", "-m", dir, "--chat", "-n", "4"}, p.tty, p.tty, p.tty)
	}()
	p.wait(t, "> ", 1)
	fmt.Fprint(p.master, "one\n")
	p.wait(t, "> ", 2)
	fmt.Fprint(p.master, "\x04") // Ctrl-D
	if status := <-done; status != statusOK {
		t.Errorf("status %d, terminal %q", status, p.screen())
	}
}

// TestProgressAtTerminal: long work shows a bar, and takes it away.
func TestProgressAtTerminal(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{Layers: 4})
	p := newPTY(t)
	var stdout bytes.Buffer
	if status := run(context.Background(), []string{"convert", "-m", dir, "-o", t.TempDir()}, nil, &stdout, p.tty); status != statusOK {
		t.Fatalf("status %d, terminal %q", status, p.screen())
	}
	p.wait(t, "converting", 1)
	if strings.Contains(stdout.String(), "converting") {
		t.Errorf("stdout %q has the bar", stdout.String())
	}
}
