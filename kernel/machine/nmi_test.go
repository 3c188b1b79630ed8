package machine_test

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// NMIs that come from outside, at any moment and to every processor, change
// nothing.
func TestInjectedNMI(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "monitor")
	input, typed := io.Pipe()
	sent := make(chan int, 1)
	up := &waiter{text: "Leveret: boot OK", seen: make(chan struct{})}
	go func() {
		defer typed.Close()
		<-up.seen
		sent <- injectNMIs(socket, 200)
		io.WriteString(typed, "still here\nend\n")
	}()
	_, console, err := run(t, machine.Config{
		Program: "../testdata/echo", CPUs: 4, Input: input, Output: up, QEMU: []string{"-monitor", "unix:" + socket + ",server=on,wait=off"},
	})
	input.Close()
	if n := <-sent; n != 200 {
		t.Fatalf("%d NMIs were sent\n%s", n, console)
	}
	// Those that come while one is served are one.
	a, _ := machine.ParseAccount([]byte(console))
	if err != nil || !strings.Contains(console, "got \"still here\"\n") || a.Memory["nmis"] < 4 {
		t.Errorf("%v\n%s", err, console)
	}
}

// waiter closes seen when text was written to it.
type waiter struct {
	text, got string
	seen      chan struct{}
}

func (w *waiter) Write(p []byte) (int, error) {
	before := strings.Contains(w.got, w.text)
	w.got += string(p)
	if !before && strings.Contains(w.got, w.text) {
		close(w.seen)
	}
	return len(p), nil
}

// injectNMIs has QEMU's monitor send n NMIs, and returns how many it took.
func injectNMIs(socket string, n int) (sent int) {
	var c net.Conn
	for deadline := time.Now().Add(30 * time.Second); c == nil; {
		var err error
		if c, err = net.Dial("unix", socket); err != nil && time.Now().After(deadline) {
			return 0
		}
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	answers := bufio.NewReader(c)
	prompt := func() bool { // it has the letters of "(qemu) " alone in this place
		_, err := answers.ReadString(')')
		return err == nil
	}
	if !prompt() {
		return 0
	}
	for sent < n {
		if _, err := io.WriteString(c, "nmi\n"); err != nil || !prompt() {
			return sent
		}
		sent++
	}
	return sent
}
