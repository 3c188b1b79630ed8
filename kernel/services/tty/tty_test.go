package tty

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// wire is a line that a test types on.
type wire struct {
	typed   []byte
	shown   []byte
	signals []string
}

func (w *wire) Send(p []byte) { w.shown = append(w.shown, p...) }
func (w *wire) Receive(p []byte) int {
	n := copy(p, w.typed)
	w.typed = w.typed[n:]
	return n
}
func (w *wire) Ready() (uint64, uint32) { return 1, unix.POLLIN }
func (w *wire) Signal(pgrp int32, s int) {
	w.signals = append(w.signals, fmt.Sprint(pgrp, ":", s))
}

func read(t *testing.T, term *Terminal, n int) (string, Errno) {
	t.Helper()
	own := usermem.Own{B: make([]byte, n)}
	var v usermem.Vector
	v.Set(&own, 0, uint64(n))
	got, e := term.Read(nil, &v, -1)
	return string(own.B[:got]), e
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		typed, want, shown string
		errno              Errno
	}{
		{"hello\r", "hello\n", "hello\r\n", 0},
		{"hel", "", "hel", unix.EAGAIN},
		{"helo\x7flo\n", "hello\n", "helo\b \blo\r\n", 0}, // erase
		{"wrong\x15right\n", "right\n", "wrong\b \b\b \b\b \b\b \b\b \bright\r\n", 0},
		{"two words\x17x\n", "two x\n", "two words\b \b\b \b\b \b\b \b\b \bx\r\n", 0},
		{"\x04", "", "", 0},                     // end of file
		{"part\x04", "part", "part", 0},         // ends a line without a newline
		{"a\x01b\n", "a\x01b\n", "a^Ab\r\n", 0}, // control characters are shown
		{"\x16\x03\n", "\x03\n", "^C\r\n", 0},   // quoted
		{"x\x03y\n", "y\n", "x^Cy\r\n", 0},      // interrupt
	} {
		w := &wire{typed: []byte(c.typed)}
		term := New(w)
		got, e := read(t, term, 100)
		if got != c.want || e != c.errno || string(w.shown) != c.shown {
			t.Errorf("%q: read %q, %v and shown %q; want %q, %v and %q", c.typed, got, e, w.shown, c.want, c.errno, c.shown)
		}
	}
}

func TestSignals(t *testing.T) {
	w := &wire{typed: []byte("\x03\x1c\x1a")}
	read(t, New(w), 10)
	if got := fmt.Sprint(w.signals); got != "[1:2 1:3 1:20]" {
		t.Errorf("signals %s", got)
	}
}

func TestShortReads(t *testing.T) {
	w := &wire{typed: []byte("abcdef\ngh\n")}
	term := New(w)
	for _, want := range []string{"abcd", "ef\n", "gh\n"} {
		if got, e := read(t, term, 4); got != want || e != 0 {
			t.Errorf("%q, %v; want %q", got, e, want)
		}
	}
}

func TestRawMode(t *testing.T) {
	w := new(wire)
	term := New(w)
	own := usermem.Own{B: make([]byte, termiosSize)}
	if _, e := term.Control(nil, nil, &own, unix.TCGETS, 0); e != 0 {
		t.Fatal(e)
	}
	var s termios
	s.get(own.B)
	s.lflag &^= unix.ICANON | unix.ECHO
	s.put(own.B)
	if _, e := term.Control(nil, nil, &own, unix.TCSETS, 0); e != 0 {
		t.Fatal(e)
	}
	if _, e := read(t, term, 10); e != unix.EAGAIN {
		t.Errorf("nothing typed: %v", e)
	}
	w.typed = []byte("ab\x7f")
	if got, e := read(t, term, 10); got != "ab\x7f" || e != 0 || len(w.shown) != 0 {
		t.Errorf("%q, %v, shown %q", got, e, w.shown)
	}
	own.B = make([]byte, 8)
	if _, e := term.Control(nil, nil, &own, unix.TIOCGWINSZ, 0); e != 0 || own.B[0] != 24 || own.B[2] != 80 {
		t.Errorf("window size %v, %v", own.B, e)
	}
	if _, e := term.Control(nil, nil, &own, 0x1234, 0); e != unix.ENOTTY {
		t.Errorf("unknown request: %v", e)
	}
}
