//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/sigframe"
	"golang.org/x/sys/unix"
)

// sigScratch is where a frame is put together; under the lock.
var sigScratch sigframe.Frame

// deliverSignals lets t, the current thread, which is about to resume, have
// one of its signals: its action happens. More follow when the handler's mask
// lets them.
func deliverSignals(c *CPU, t *Thread) {
	for {
		info := &sigScratch.Info
		sig := take(t, t.mask, info)
		if sig == 0 {
			break
		}
		a := &t.process.actions[sig]
		switch {
		case a.handler == sigIgnore && bit(sig)&unblockable == 0:
		case a.handler > sigIgnore:
			restartCall(c, t, true, a.flags&saRestart != 0)
			t.step.next = 0 // a call of steps that is left begins anew
			if !pushFrame(c, t, sig, a) {
				// No room for the frame: SIGSEGV, and if that is what was to
				// be delivered, the end.
				if sig == uint64(unix.SIGSEGV) {
					t.process.actions[sig].handler = sigDefault
				}
				force(c, t, uint64(unix.SIGSEGV), siKern, 0)
				continue
			}
			if a.flags&saResethand != 0 {
				a.handler = sigDefault
			}
			return
		case bit(sig)&ignored != 0 && sig != uint64(unix.SIGKILL):
		case bit(sig)&stopping != 0 || t.process.unkillable:
		default:
			status := sig
			if bit(sig)&dumping != 0 {
				reportDeath(t, sig, info)
			}
			if t.ring0() {
				crash(c, t, t.faultCR2)
			}
			kill(c, t.process, status)
			return
		}
	}
	restartCall(c, t, false, false)
}

// reportDeath says on the console why a program is killed.
func reportDeath(t *Thread, sig uint64, info *sigframe.Info) {
	puts("core: ")
	putName(&t.name)
	puts(": killed by signal ")
	putdec(sig)
	kv(" IP ", t.IP)
	kv(" address ", info.Fields[0])
	puts("\n")
}

// restartCall turns the result of a call that was to be interrupted into what
// the program sees: EINTR, or the call once more (signal(7)).
func restartCall(c *CPU, t *Thread, handler, restart bool) {
	if t.how != howSyscall || t.AX > eRESTARTSYS || t.AX < eRESTARTBLOCK {
		if !handler && t.restore {
			t.restore = false
			setMask(t, t.saved)
		}
		return
	}
	again := false
	switch t.AX {
	case eRESTARTSYS:
		again = !handler || restart
	case eRESTARTNOINTR:
		again = true
	case eRESTARTNOHAND, eRESTARTBLOCK:
		again = !handler
	}
	if !again {
		if t.AX == eRESTARTBLOCK {
			writeRemaining(c, t)
		}
		t.AX = eINTR
	} else {
		t.IP -= 2 // SYSCALL
		if t.AX == eRESTARTBLOCK {
			t.restart = t.call
			t.AX = unix.SYS_RESTART_SYSCALL
		} else {
			t.AX = t.call
		}
	}
	if !handler && t.restore {
		t.restore = false
		setMask(t, t.saved)
	}
}

// pushFrame makes t, when it resumes, run the handler of a signal, whose
// siginfo is in sigScratch. false: its stack cannot take the frame.
func pushFrame(c *CPU, t *Thread, sig uint64, a *sigAction) bool {
	if a.flags&saRestorer == 0 {
		return false
	}
	if t.rseq != 0 && !abortRseq(c, t) {
		return false
	}
	if t.fp == fpLive {
		saveFull(t)
	} else {
		return false
	}
	sp := t.SP - sigframe.RedZone
	onAlt := t.onAltStack(t.SP)
	if a.flags&saOnStack != 0 && t.altSize != 0 && !onAlt {
		sp = t.altStack + t.altSize
	}
	image, at := sigframe.Place(sp, xsaveSize)
	if onAlt && !t.onAltStack(at) || a.flags&saOnStack != 0 && t.altSize != 0 && !onAlt && at <= t.altStack {
		return false
	}
	limit := uint64(userTop)
	if t.ring0() {
		limit = ^uint64(0)
	}
	if a.handler >= limit || at >= limit || sp < at {
		return false
	}
	f := &sigScratch
	f.Return = a.restorer
	u := &f.Context
	u.Flags, u.Link = sigframe.ContextFlags, 0
	u.Stack.Pointer, u.Stack.Size, u.Stack.Flags = t.altStack, t.altSize, int32(t.altState(t.SP))
	r := &u.Registers
	r.R8, r.R9, r.R10, r.R11 = t.R8, t.R9, t.R10, t.R11
	r.R12, r.R13, r.R14, r.R15 = t.R12, t.R13, t.R14, t.R15
	r.DI, r.SI, r.BP, r.BX, r.DX, r.AX, r.CX = t.DI, t.SI, t.BP, t.BX, t.DX, t.AX, t.CX
	if t.how == howSyscall { // as SYSCALL has left them
		r.CX, r.R11 = t.IP, t.Flags
	}
	r.SP, r.IP, r.Flags = t.SP, t.IP, t.Flags
	r.CS, r.GS, r.FS, r.SS = uint16(t.CS), 0, 0, uint16(t.SS)
	r.Error, r.Trap, r.CR2 = t.trapErr, t.trapNo, t.faultCR2
	r.OldMask = 0
	r.FPState = image
	u.Mask = t.mask
	if t.restore {
		u.Mask = t.saved
	}
	x := unsafe.Pointer(&t.xsave)
	w := (*sigframe.Software)(unsafe.Add(x, sigframe.SoftwareOffset))
	w.Magic1, w.ExtendedSize = sigframe.Magic1, uint32(xsaveSize)+sigframe.Magic2Size
	w.Features, w.StateSize = xfeatures, uint32(xsaveSize)
	if !copyOut(c, image, x, xsaveSize) || !write32(c, image+xsaveSize, sigframe.Magic2) ||
		!copyOut(c, at, unsafe.Pointer(f), sigframe.FrameSize) {
		return false
	}
	t.restore = false
	if t.altFlags&ssAutodisarm != 0 && onAltNext(t, at) {
		t.altStack, t.altSize, t.altFlags = 0, 0, 0
	}
	block := a.mask
	if a.flags&saNodefer == 0 {
		block |= bit(sig)
	}
	t.IP, t.SP = a.handler, at
	t.DI, t.SI, t.DX = sig, at+sigframe.InfoOffset, at+sigframe.ContextOffset
	t.AX = 0
	t.Flags = 0x202
	t.how = howTrap
	setMask(t, t.mask|block)
	return true
}

const ssAutodisarm = 1 << 31

func onAltNext(t *Thread, sp uint64) bool { return sp-t.altStack < t.altSize }

// onAltStack tells whether sp is on t's alternate stack.
func (t *Thread) onAltStack(sp uint64) bool {
	return t.altFlags&ssAutodisarm == 0 && sp > t.altStack && sp-t.altStack <= t.altSize
}

// altState is ss_flags as sigaltstack(2) tells.
func (t *Thread) altState(sp uint64) uint32 {
	if t.altSize == 0 {
		return 2 // SS_DISABLE
	}
	if t.onAltStack(sp) {
		return 1 // SS_ONSTACK
	}
	return t.altFlags
}

// sysRtSigreturn: the frame at the stack pointer, which the program may have
// written itself, becomes the thread's state, as far as it may.
func sysRtSigreturn(c *CPU, t *Thread) {
	f := &sigScratch
	at := t.SP - 8
	bad := !copyIn(c, unsafe.Pointer(f), at, sigframe.FrameSize)
	r := &f.Context.Registers
	if !bad && !t.ring0() && !canonical(r.IP) {
		bad = true // IRETQ would fault; at the kernel's addresses the program does
	}
	x := unsafe.Pointer(&t.xsave)
	if !bad && r.FPState != 0 {
		bad = !restoreVector(c, t, x, r.FPState)
	}
	if bad {
		t.how = howTrap
		force(c, t, uint64(unix.SIGSEGV), siKern, 0)
		return
	}
	t.R8, t.R9, t.R10, t.R11 = r.R8, r.R9, r.R10, r.R11
	t.R12, t.R13, t.R14, t.R15 = r.R12, r.R13, r.R14, r.R15
	t.DI, t.SI, t.BP, t.BX, t.DX, t.AX, t.CX = r.DI, r.SI, r.BP, r.BX, r.DX, r.AX, r.CX
	t.SP, t.IP = r.SP, r.IP
	// Arithmetic flags, TF, DF, RF, AC (services' copy of user memory runs
	// with AC).
	t.Flags = r.Flags&0x50dd5 | 0x202
	t.how = howTrap
	s := &f.Context.Stack
	if s.Size != 0 || s.Flags&2 != 0 {
		if !t.onAltStack(t.SP) {
			setAltStack(t, s.Pointer, uint32(s.Flags)&^1, s.Size)
		}
	}
	t.restore = false
	setMask(t, f.Context.Mask)
}

// canonical says whether bits 47 to 63 of an address are the same.
func canonical(a uint64) bool { return (a+1<<47)>>48 == 0 }

// restoreVector loads an XSAVE image from user memory, checked so that XRSTOR
// cannot fault.
func restoreVector(c *CPU, t *Thread, x unsafe.Pointer, from uint64) bool {
	if from&15 != 0 || !copyIn(c, x, from, 512) {
		return false
	}
	w := (*sigframe.Software)(unsafe.Add(x, sigframe.SoftwareOffset))
	header := unsafe.Add(x, 512)
	*(*uint32)(unsafe.Add(x, 24)) &= mxcsrMask
	if hasAVX == 0 {
		loadFull(t)
		return true
	}
	extended := w.Magic1 == sigframe.Magic1 && uint64(w.StateSize) >= 576 && uint64(w.StateSize) <= xsaveSize && from&63 == 0
	if extended {
		if !copyIn(c, header, from+512, uint64(w.StateSize)-512) {
			return false
		}
		*(*uint64)(header) &= xfeatures & w.Features
	} else {
		*(*uint64)(header) = xfeatureX87 | xfeatureSSE
	}
	for i := 8; i < 64; i += 8 { // XCOMP_BV and what is reserved
		*(*uint64)(unsafe.Add(header, i)) = 0
	}
	if *(*uint64)(header)&xfeatureSSE == 0 { // core loads X14 and X15 itself
		for i := 160 + 14*16; i < 160+16*16; i += 8 {
			*(*uint64)(unsafe.Add(x, i)) = 0
		}
	}
	loadFull(t)
	return true
}
