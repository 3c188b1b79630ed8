//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
)

// hyperBlocks are the hypercalls by number, from abi.HypercallFirst on.
var hyperFn [0x200]func(*CPU, *Thread)

// initHypercalls fills the table.
func initHypercalls() {
	set := func(n int, f func(*CPU, *Thread)) { hyperFn[n-abi.HypercallFirst] = f }
	set(abi.HyperReceive, receive)
	set(abi.HyperReceiveEntry, hyperReceiveEntry)
	set(abi.HyperFixupRange, hyperFixupRange)

	set(abi.HyperFilesCreate, hyperFilesCreate)
	set(abi.HyperFilesRelease, hyperFilesRelease)
	set(abi.HyperFileCreate, hyperFileCreate)
	set(abi.HyperFileRelease, hyperFileRelease)
	set(abi.HyperDescriptorInstall, hyperDescriptorInstall)
	set(abi.HyperDescriptorRemove, hyperDescriptorRemove)
	set(abi.HyperPipeCreate, hyperPipeCreate)
	set(abi.HyperPipeEnd, hyperPipeEnd)
	set(abi.HyperEventfdCreate, hyperEventfdCreate)
	set(abi.HyperTimerfdCreate, hyperTimerfdCreate)
	set(abi.HyperEpollCreate, hyperEpollCreate)
	set(abi.HyperFileControl, hyperFileControl)
	set(abi.HyperFileRead, hyperFileRead)
	set(abi.HyperFileWrite, hyperFileWrite)

	set(abi.HyperReadyCreate, hyperReadyCreate)
	set(abi.HyperReadyPost, hyperReadyPost)
	set(abi.HyperReadyRelease, hyperReadyRelease)
	initMachineCalls(set)
}

func hypercall(c *CPU, t *Thread, n uint64) {
	if i := n - abi.HypercallFirst; i < uint64(len(hyperFn)) {
		if f := hyperFn[i]; f != nil {
			f(c, t)
			return
		}
	}
	memoryCall(c, t, n)
}

func hyperReceiveEntry(c *CPU, t *Thread) { t.AX = receiveAddr }

func hyperFixupRange(c *CPU, t *Thread) {
	fixLo, fixHi, fixPad = t.DI, t.SI, t.DX
	t.AX = 0
}

func fileAt(a uint64) *File   { return (*File)(ptr(a)) }
func filesAt(a uint64) *Files { return (*Files)(ptr(a)) }

// answerFile returns a new file's handle, with services' reference.
func answerFile(t *Thread, x *File) {
	if x == nil {
		t.AX = eNOMEM
		return
	}
	x.References++
	t.AX = addressOf(x)
}

func hyperFilesCreate(c *CPU, t *Thread) {
	t.AX = eNOMEM
	if f := newFiles(); f != nil {
		t.AX = addressOf(f)
	}
}

func hyperFilesRelease(c *CPU, t *Thread) {
	releaseFiles(c, filesAt(t.DI))
	t.AX = 0
}

// FileCreate(kind, object, flags, tag).
func hyperFileCreate(c *CPU, t *Thread) {
	x := newFile(uint32(t.DI), uint32(t.DX))
	if x != nil {
		x.Object, x.Tag = t.SI, t.R10
		if x.Kind == abi.KindReady && x.Object != 0 {
			x.ready = &(*Readiness)(ptr(x.Object)).Object
		}
	}
	answerFile(t, x)
}

func hyperFileRelease(c *CPU, t *Thread) {
	releaseFile(c, fileAt(t.DI))
	t.AX = 0
}

func hyperDescriptorInstall(c *CPU, t *Thread) {
	t.AX = 0
	if !filesAt(t.DI).install(c, t.SI, fileAt(t.DX)) {
		t.AX = eNOMEM
	}
}

func hyperDescriptorRemove(c *CPU, t *Thread) {
	t.AX = 0
	if !filesAt(t.DI).remove(c, t.SI) {
		t.AX = eBADF
	}
}

func hyperPipeCreate(c *CPU, t *Thread) {
	r, w := newPipe(uint32(t.DI))
	if r == nil {
		t.AX = eNOMEM
		return
	}
	r.References++
	w.References++
	t.AX, t.DX = addressOf(r), addressOf(w)
}

func hyperEventfdCreate(c *CPU, t *Thread) { answerFile(t, newEventfd(t.DI, uint32(t.SI))) }
func hyperTimerfdCreate(c *CPU, t *Thread) { answerFile(t, newTimerfd(int32(t.DI), uint32(t.SI))) }
func hyperEpollCreate(c *CPU, t *Thread)   { answerFile(t, newEpoll(uint32(t.DI))) }

// pipeOf returns the pipe of the file that t names, nil, and EINVAL for t, where
// the file is something else.
func pipeOf(t *Thread) *Pipe {
	x := fileAt(t.DI)
	t.AX = eINVAL
	if x.Kind != abi.KindPipe {
		return nil
	}
	return x.pipe
}

func hyperFileControl(c *CPU, t *Thread) {
	if p := pipeOf(t); p != nil {
		t.AX = controlPipe(p, t.SI, t.DX)
	}
}

// FileRead(file, address, n, flags) never waits.
func hyperFileRead(c *CPU, t *Thread) {
	p := pipeOf(t)
	if p == nil {
		return
	}
	switch {
	case !p.ring.Empty():
		t.AX = takeFromPipe(c, p, t.SI, t.DX)
	case p.writers == 0:
		t.AX = 0
	default:
		t.AX = eAGAIN
	}
}

func hyperFileWrite(c *CPU, t *Thread) {
	p := pipeOf(t)
	if p == nil {
		return
	}
	if p.readers == 0 {
		t.AX = ePIPE
		return
	}
	if t.AX = giveToPipe(c, p, t.SI, t.DX); t.AX == 0 && t.DX != 0 {
		t.AX = eAGAIN
	}
}

func hyperReadyCreate(c *CPU, t *Thread) {
	o := readinesses.Get()
	if o == nil {
		t.AX = eNOMEM
		return
	}
	o.Bits = uint32(t.DI)
	t.AX = addressOf(o)
}

func hyperReadyPost(c *CPU, t *Thread) {
	o := (*Readiness)(ptr(t.DI))
	t.AX = 0
	post(c, &o.Object, uint32(t.SI), uint32(t.DX))
}

// ReadyRelease: who still waits is told, and finds nothing to wait for.
func hyperReadyRelease(c *CPU, t *Thread) {
	o := (*Readiness)(ptr(t.DI))
	t.AX = 0
	post(c, &o.Object, ready.Hup|ready.Err|ready.In|ready.Out, 0)
	for it, at := o.EachItem(nil); it != nil; it, at = o.EachItem(nil) {
		it.Set().Delete(it)
		epollItems.Put(it)
		_ = at
	}
	readinesses.Put(o)
}

var _ unsafe.Pointer
