//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/space"
)

// regs returns a thread's registers, with which every Thread begins.
func regs(t *Thread) *abi.Frame { return (*abi.Frame)(unsafe.Pointer(t)) }

// faultIn resolves a page fault at addr, or says what it is.
func (as *AddressSpace) faultIn(c *CPU, addr, code uint64) space.Result {
	r := as.Fault(&c.mm, addr, code)
	for r == space.NoMemory && reapSpaces(c) { // something is being freed
		r = as.Fault(&c.mm, addr, code)
	}
	return r
}

// pageFault handles a page fault at addr of the current thread that is not in
// core's own code.
func pageFault(c *CPU, t *Thread, addr uint64) {
	f := regs(t)
	user := f.CS&3 == 3
	r := space.Unmapped
	switch {
	case addr < userTop:
		// services touch user memory only with AC set, in their copy functions
		if as := t.as; as != nil && (user || f.Flags&flagAC != 0) {
			r = as.faultIn(c, addr, f.Error)
		}
	case !user:
		r = servicesSpace.faultIn(c, addr, f.Error)
	}
	if r == space.Resolved {
		return
	}
	if !user && f.IP >= fixLo && f.IP < fixHi {
		f.IP = fixPad
		return
	}
	signal, code := faultSignal(r)
	if r == space.NoMemory {
		puts("core: out of memory: ")
		putName(&t.name)
		puts(" is killed\n")
	}
	t.faultCR2, t.trapNo, t.trapErr = addr, f.Vector, f.Error
	force(c, t, signal, uint32(code), addr)
}

const flagAC = 1 << 18

// faultSignal returns the signal and si_code for a fault that was not resolved.
func faultSignal(r space.Result) (signal, code uint64) {
	switch r {
	case space.Forbidden:
		return uint64(unix.SIGSEGV), 2 // SEGV_ACCERR
	case space.BeyondEnd:
		return uint64(unix.SIGBUS), 2 // BUS_ADRERR
	case space.NoMemory:
		return uint64(unix.SIGKILL), 0
	}
	return uint64(unix.SIGSEGV), 1 // SEGV_MAPERR
}
