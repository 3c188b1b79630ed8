package tty

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = vfs.Errno

// A Line is the wire to the screen and the keyboard.
type Line interface {
	// Send puts bytes on the screen.
	Send(p []byte)
	// Receive takes what came in, without waiting.
	Receive(p []byte) int
	// Ready is the readiness object of raw input.
	Ready() (handle uint64, bits uint32)
	// Signal sends a signal to the processes of group pgrp.
	Signal(pgrp int32, signal int)
}

// A Terminal is a line with its discipline.
type Terminal struct {
	line Line

	mu      sync.Mutex
	t       termios
	size    [4]uint16 // rows, columns, pixels
	pgrp    int32
	sid     int32
	pending []byte // the line that is being typed
	ready   []byte // what a read gets
	ends    []int  // of the lines in ready, in bytes; an end of file is a line of none
	raw     [512]byte
	out     []byte
	escaped bool
}

// maxPending is the longest line that can be typed: N_TTY_BUF_SIZE.
const maxPending = 4096

// New makes a terminal of 24 rows by 80 columns.
func New(line Line) *Terminal {
	return &Terminal{line: line, t: initial, size: [4]uint16{24, 80}, pgrp: 1, sid: 1}
}

// OpenNode implements vfs.Opener: all open files are one terminal.
func (t *Terminal) OpenNode(*vfs.Caller, *vfs.Inode, uint32) (vfs.Ops, Errno) { return t, 0 }

// IsStream implements vfs.Stream.
func (t *Terminal) IsStream() {}

// Ready implements vfs.Pollable.
func (t *Terminal) Ready(_ *vfs.File, write bool) (uint64, uint32) {
	if write {
		return 0, unix.POLLOUT
	}
	return t.line.Ready()
}

// Write sends bytes to the screen, newlines as a return and a newline.
func (t *Terminal) Write(_ *vfs.File, v *usermem.Vector, _ int64) (done int64, e Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b [512]byte
	for v.Left() > 0 {
		n, e := v.In(b[:min(v.Left(), int64(len(b)))])
		if n == 0 {
			if done > 0 {
				e = 0
			}
			return done, e
		}
		t.print(b[:n])
		done += int64(n)
	}
	return done, 0
}

func (t *Terminal) print(p []byte) {
	t.out = t.out[:0]
	for _, c := range p {
		if c == '\n' && t.t.oflag&(unix.OPOST|unix.ONLCR) == unix.OPOST|unix.ONLCR {
			t.out = append(t.out, '\r')
		}
		t.out = append(t.out, c)
	}
	t.line.Send(t.out)
}

// Read gives a line, or in raw mode what is there. EAGAIN when there is
// nothing yet.
func (t *Terminal) Read(_ *vfs.File, v *usermem.Vector, _ int64) (int64, Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pump()
	if v.Left() == 0 {
		return 0, 0
	}
	if t.t.lflag&unix.ICANON == 0 {
		if len(t.ready) == 0 && t.t.cc[unix.VMIN] == 0 {
			return 0, 0
		}
		if len(t.ready) == 0 {
			return 0, unix.EAGAIN
		}
		n, e := v.Out(t.ready)
		t.ready, t.ends = t.ready[:copy(t.ready, t.ready[n:])], t.ends[:0]
		return int64(n), e
	}
	if len(t.ends) == 0 {
		return 0, unix.EAGAIN
	}
	n, e := v.Out(t.ready[:t.ends[0]])
	t.ready = t.ready[:copy(t.ready, t.ready[n:])]
	for i := range t.ends {
		t.ends[i] -= n
	}
	if t.ends[0] <= 0 {
		t.ends = t.ends[:copy(t.ends, t.ends[1:])]
	}
	return int64(n), e
}

// pump takes in what the line has.
func (t *Terminal) pump() {
	for len(t.ready) < maxPending {
		n := t.line.Receive(t.raw[:])
		if n <= 0 {
			return
		}
		for _, c := range t.raw[:n] {
			t.input(c)
		}
	}
}

func (t *Terminal) echo(p ...byte) {
	if t.t.lflag&unix.ECHO != 0 {
		t.print(p)
	}
}

// input is one byte from the keyboard (n_tty of Linux).
func (t *Terminal) input(c byte) {
	f, l := t.t.iflag, t.t.lflag
	if f&unix.ISTRIP != 0 {
		c &= 0x7f
	}
	switch {
	case c == '\r' && f&unix.IGNCR != 0:
		return
	case c == '\r' && f&unix.ICRNL != 0:
		c = '\n'
	case c == '\n' && f&unix.INLCR != 0:
		c = '\r'
	}
	is := func(n int) bool { return t.t.cc[n] == c && c != 0 && !t.escaped }
	if l&unix.ISIG != 0 {
		for _, s := range [...]struct{ cc, signal int }{{unix.VINTR, 2}, {unix.VQUIT, 3}, {unix.VSUSP, 20}} {
			if is(s.cc) {
				t.echo('^', c^0x40)
				t.pending = t.pending[:0]
				t.line.Signal(t.pgrp, s.signal)
				return
			}
		}
	}
	if l&unix.ICANON == 0 {
		t.echo(c)
		t.ready = append(t.ready, c)
		return
	}
	switch {
	case is(unix.VERASE):
		t.erase(1)
	case is(unix.VKILL):
		t.erase(len(t.pending))
	case is(unix.VWERASE):
		n := len(t.pending)
		for n > 0 && t.pending[n-1] == ' ' {
			n--
		}
		for n > 0 && t.pending[n-1] != ' ' {
			n--
		}
		t.erase(len(t.pending) - n)
	case is(unix.VLNEXT) && l&unix.IEXTEN != 0:
		t.escaped = true
		return
	case is(unix.VEOF):
		t.finish()
	case c == '\n':
		t.pending = append(t.pending, c)
		if l&(unix.ECHO|unix.ECHONL) != 0 {
			t.print([]byte{'\n'})
		}
		t.finish()
	case len(t.pending) < maxPending-1:
		t.pending = append(t.pending, c)
		if c < ' ' && c != '\t' && l&unix.ECHOCTL != 0 {
			t.echo('^', c^0x40)
		} else {
			t.echo(c)
		}
	}
	t.escaped = false
}

// finish gives the line that was typed to the readers.
func (t *Terminal) finish() {
	t.ready = append(t.ready, t.pending...)
	t.ends = append(t.ends, len(t.ready))
	t.pending = t.pending[:0]
}

// erase takes n bytes back, whole characters of UTF-8 where IUTF8 is set.
func (t *Terminal) erase(n int) {
	for ; n > 0 && len(t.pending) > 0; n-- {
		at := len(t.pending) - 1
		for t.t.iflag&unix.IUTF8 != 0 && at > 0 && t.pending[at]&0xc0 == 0x80 {
			at--
		}
		width := 1
		if t.pending[at] < ' ' && t.t.lflag&unix.ECHOCTL != 0 {
			width = 2
		}
		t.pending = t.pending[:at]
		for ; width > 0 && t.t.lflag&unix.ECHOE != 0; width-- {
			t.echo('\b', ' ', '\b')
		}
	}
}

// Control implements vfs.Controller.
func (t *Terminal) Control(c *vfs.Caller, f *vfs.File, m usermem.Memory, request uint32, arg uint64) (int64, Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b [termios2Size]byte
	le := binary.LittleEndian
	switch request {
	case unix.TCGETS, unix.TCGETS2:
		n := termiosSize
		if request == unix.TCGETS2 {
			n = termios2Size
		}
		t.t.put(b[:n])
		return 0, usermem.Out(m, arg, b[:n])
	case unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TCSETS2, unix.TCSETSW2, unix.TCSETSF2:
		n := termiosSize
		if request >= unix.TCSETS2 {
			n = termios2Size
		}
		if e := usermem.In(m, b[:n], arg); e != 0 {
			return 0, e
		}
		t.change(b[:n], request == unix.TCSETSF || request == unix.TCSETSF2)
		return 0, 0
	case unix.TIOCGWINSZ:
		for i, v := range t.size {
			le.PutUint16(b[2*i:], v)
		}
		return 0, usermem.Out(m, arg, b[:8])
	case unix.TIOCSWINSZ:
		if e := usermem.In(m, b[:8], arg); e != 0 {
			return 0, e
		}
		old := t.size
		for i := range t.size {
			t.size[i] = le.Uint16(b[2*i:])
		}
		if old != t.size {
			t.line.Signal(t.pgrp, 28) // SIGWINCH
		}
		return 0, 0
	case unix.TIOCGPGRP:
		return 0, usermem.PutUint32(m, b[:], arg, uint32(t.pgrp))
	case unix.TIOCSPGRP:
		if e := usermem.In(m, b[:4], arg); e != 0 {
			return 0, e
		}
		if p := int32(le.Uint32(b[:])); p > 0 {
			t.pgrp = p
			return 0, 0
		}
		return 0, unix.EINVAL
	case unix.TIOCGSID:
		return 0, usermem.PutUint32(m, b[:], arg, uint32(t.sid))
	case unix.TIOCSCTTY, unix.TIOCNOTTY, unix.TCSBRK, unix.TCSBRKP, unix.TCXONC, unix.TIOCEXCL, unix.TIOCNXCL:
		return 0, 0
	case unix.TCFLSH:
		if arg != unix.TCOFLUSH {
			t.flush()
		}
		return 0, 0
	case unix.TIOCINQ:
		t.pump()
		n := len(t.ready)
		return 0, usermem.PutUint32(m, b[:], arg, uint32(n))
	case unix.TIOCOUTQ:
		return 0, usermem.PutUint32(m, b[:], arg, 0)
	case unix.TIOCGETD:
		return 0, usermem.PutUint32(m, b[:], arg, 0)
	}
	return 0, unix.ENOTTY
}

func (t *Terminal) change(b []byte, flush bool) {
	was := t.t.lflag & unix.ICANON
	t.t.get(b)
	if flush {
		t.flush()
	}
	if was != 0 && t.t.lflag&unix.ICANON == 0 {
		// What was typed of a line is there to read now.
		t.ready = append(t.ready, t.pending...)
		t.pending, t.ends = t.pending[:0], t.ends[:0]
	} else if was == 0 && t.t.lflag&unix.ICANON != 0 && len(t.ready) > 0 {
		t.ends = append(t.ends[:0], len(t.ready))
	}
}

func (t *Terminal) flush() {
	for t.line.Receive(t.raw[:]) > 0 {
	}
	t.ready, t.pending, t.ends = t.ready[:0], t.pending[:0], t.ends[:0]
}
