// Package tty is a terminal: the line discipline that turns what comes in
// into lines with echo, and what goes out into what a screen takes
// (termios(3), ioctl_tty(2)).
package tty

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// termios is the kernel's struct termios (asm-generic/termbits.h): four words
// of flags, the line discipline, 19 control characters.
type termios struct {
	iflag, oflag, cflag, lflag uint32
	cc                         [19]byte
}

// termiosSize is its size in bytes; termios2 has two speeds more.
const (
	termiosSize  = 36
	termios2Size = 44
)

const speed = 115200

// initial is what a console of Linux begins with (tty_std_termios).
var initial = termios{
	iflag: unix.ICRNL | unix.IXON,
	oflag: unix.OPOST | unix.ONLCR,
	cflag: unix.B115200 | unix.CS8 | unix.CREAD | unix.HUPCL | unix.CLOCAL,
	lflag: unix.ISIG | unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE | unix.IEXTEN,
	cc: [19]byte{unix.VINTR: 3, unix.VQUIT: 28, unix.VERASE: 127, unix.VKILL: 21, unix.VEOF: 4, unix.VTIME: 0, unix.VMIN: 1, unix.VSTART: 17, unix.VSTOP: 19,
		unix.VSUSP: 26, unix.VREPRINT: 18, unix.VDISCARD: 15, unix.VWERASE: 23, unix.VLNEXT: 22},
}

func (t *termios) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b, t.iflag)
	le.PutUint32(b[4:], t.oflag)
	le.PutUint32(b[8:], t.cflag)
	le.PutUint32(b[12:], t.lflag)
	b[16] = 0
	copy(b[17:36], t.cc[:])
	if len(b) >= termios2Size {
		le.PutUint32(b[36:], speed)
		le.PutUint32(b[40:], speed)
	}
}

func (t *termios) get(b []byte) {
	le := binary.LittleEndian
	t.iflag, t.oflag, t.cflag, t.lflag = le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	copy(t.cc[:], b[17:36])
}
