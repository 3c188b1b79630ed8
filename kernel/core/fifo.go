//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
)

// PipeEnd(file, flags): another end of a pipe, of a FIFO that is opened again.
// One that is open for reading and writing counts as both ends.
func hyperPipeEnd(c *CPU, t *Thread) {
	p := pipeOf(t)
	if p == nil {
		return
	}
	n := newFile(abi.KindPipe, uint32(t.SI))
	if n == nil {
		t.AX = eNOMEM
		return
	}
	n.pipe, n.ready = p, &p.readEnd
	if n.canRead() {
		p.readers++
		if p.readers == 1 {
			set := uint32(0)
			if !p.ring.Full() {
				set = ready.Out
			}
			post(c, &p.writeEnd, set, ready.Err)
		}
	}
	if n.canWrite() {
		p.writers++
		if p.writers == 1 {
			post(c, &p.readEnd, 0, ready.Hup)
		}
		if !n.canRead() {
			n.ready = &p.writeEnd
		}
	}
	answerFile(t, n)
}
