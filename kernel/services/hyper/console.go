//go:build amd64

package hyper

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/ring0"
)

// A Console is the serial line: it implements tty.Line.
type Console struct {
	ready uint64
}

// NewConsole asks core for the line's readiness object.
func NewConsole() *Console {
	h, _ := call(abi.HyperConsoleReady)
	return &Console{ready: h}
}

// Send implements tty.Line.
func (c *Console) Send(p []byte) {
	for len(p) > 0 {
		n, e := call(abi.HyperConsoleWrite, ring0.Address(p), uint64(len(p)))
		if e != 0 || n == 0 {
			return
		}
		p = p[n:]
	}
}

// Receive implements tty.Line.
func (c *Console) Receive(p []byte) int {
	n, _ := call(abi.HyperConsoleRead, ring0.Address(p), uint64(len(p)))
	return int(n)
}

// Ready implements tty.Line.
func (c *Console) Ready() (uint64, uint32) { return c.ready, unix.POLLIN }

// Signal implements tty.Line: to the whole group.
func (c *Console) Signal(pgrp int32, signal int) {
	call(abi.HyperSignal, uint64(int64(-pgrp)), uint64(signal))
}
