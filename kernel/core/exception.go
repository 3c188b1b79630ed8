//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// exceptionSignals are the signals and codes of exceptions (sigaction(2)), by
// vector. Page faults are not among them.
var exceptionSignals = [32]struct {
	signal uint8
	code   uint8
}{
	0:  {uint8(unix.SIGFPE), 1},  // FPE_INTDIV
	1:  {uint8(unix.SIGTRAP), 2}, // TRAP_TRACE
	3:  {uint8(unix.SIGTRAP), siKern},
	4:  {uint8(unix.SIGSEGV), siKern},
	5:  {uint8(unix.SIGSEGV), siKern},
	6:  {uint8(unix.SIGILL), 2}, // ILL_ILLOPN
	9:  {uint8(unix.SIGFPE), siKern},
	11: {uint8(unix.SIGBUS), siKern},
	12: {uint8(unix.SIGBUS), siKern},
	13: {uint8(unix.SIGSEGV), siKern},
	16: {uint8(unix.SIGFPE), 0}, // by the status word
	17: {uint8(unix.SIGBUS), 1}, // BUS_ADRALN
	19: {uint8(unix.SIGFPE), 0}, // by MXCSR
}

// exception turns an exception of a program, or of services, into a signal.
func exception(c *CPU, t *Thread) {
	v := t.Vector
	if v >= 32 || exceptionSignals[v&31].signal == 0 {
		crash(c, t, 0)
		return
	}
	if v == 1 && afterSyscall(c, t) {
		return
	}
	e := &exceptionSignals[v&31]
	code, addr := uint32(e.code), t.IP
	switch v {
	case 16:
		saveFull(t)
		cwd, swd := uint32(t.xsave[0])|uint32(t.xsave[1])<<8, uint32(t.xsave[2])|uint32(t.xsave[3])<<8
		code = floatCode(swd &^ cwd)
	case 19:
		saveFull(t)
		m := uint32(t.xsave[24]) | uint32(t.xsave[25])<<8
		code = floatCode(m &^ (m >> 7))
	case 3, 4, 5, 9, 11, 12, 13:
		addr = 0
	}
	t.trapNo, t.trapErr = v, t.Error
	force(c, t, uint64(e.signal), code, addr)
}

// afterSyscall says whether a single step ended behind SYSCALL. SYSRETQ, which
// sets TF, traps before the program's next instruction; Linux returns from
// such a call by IRETQ, which traps behind it. RCX and R11 are what SYSCALL
// put there.
func afterSyscall(c *CPU, t *Thread) bool {
	const resume = 1 << 16 // RF
	if t.ring0() || t.CX != t.IP || (t.R11^t.Flags)&^resume != 0 {
		return false
	}
	var code uint16
	return copyIn(c, unsafe.Pointer(&code), t.IP-2, 2) && code == 0x050f
}

// floatCode is si_code of SIGFPE for unmasked floating-point exceptions.
func floatCode(e uint32) uint32 {
	switch {
	case e&1 != 0:
		return 7 // FPE_FLTINV
	case e&4 != 0:
		return 3 // FPE_FLTDIV
	case e&8 != 0:
		return 4 // FPE_FLTOVF
	case e&0x12 != 0:
		return 5 // FPE_FLTUND
	case e&0x20 != 0:
		return 6 // FPE_FLTRES
	}
	return 0
}
