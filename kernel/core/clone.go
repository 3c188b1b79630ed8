//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/x86"
	"golang.org/x/sys/unix"
)

// threadFlags are what a clone must have to make a thread.
const threadFlags = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD

// clone3 has these arguments (struct clone_args, clone(2)).
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls uint64
	setTID, setTIDSize, cgroup                                           uint64
}

// sysClone: clone(2).
func sysClone(c *CPU, t *Thread) {
	flags := t.DI &^ 0xff
	cloneThread(c, t, flags, t.SI, t.DX, t.R10, t.R8)
}

// sysClone3: clone3(2).
func sysClone3(c *CPU, t *Thread) {
	var a cloneArgs
	size := t.SI
	if size < 64 {
		t.AX = eINVAL
		return
	}
	if size > pageSize {
		t.AX = e2BIG
		return
	}
	n := min(size, uint64(unsafe.Sizeof(a)))
	if !copyIn(c, unsafe.Pointer(&a), t.DI, n) {
		t.AX = eFAULT
		return
	}
	for at := n; at < size; at++ {
		var b byte
		if !copyIn(c, unsafe.Pointer(&b), t.DI+at, 1) {
			t.AX = eFAULT
			return
		}
		if b != 0 {
			t.AX = e2BIG
			return
		}
	}
	if (a.stack == 0) != (a.stackSize == 0) || a.flags&0xff != 0 || a.flags&threadFlags == threadFlags && a.exitSignal != 0 {
		t.AX = eINVAL
		return
	}
	sp := uint64(0)
	if a.stack != 0 {
		sp = a.stack + a.stackSize
	}
	cloneThread(c, t, a.flags, sp, a.parentTID, a.childTID, a.tls)
}

// cloneThread makes a thread like t, the current one.
func cloneThread(c *CPU, t *Thread, flags, sp, parentTID, childTID, tls uint64) {
	if flags&unix.CLONE_SIGHAND != 0 && flags&unix.CLONE_VM == 0 || flags&unix.CLONE_THREAD != 0 && flags&unix.CLONE_SIGHAND == 0 {
		t.AX = eINVAL
		return
	}
	if flags&threadFlags != threadFlags {
		t.AX = eNOSYS // a process of its own
		return
	}
	if !t.ring0() && tls >= userTop && flags&unix.CLONE_SETTLS != 0 {
		t.AX = ePERM
		return
	}
	if uint64(t.process.threads) >= t.process.limits[unix.RLIMIT_NPROC].Cur {
		t.AX = eAGAIN
		return
	}
	n := newThread(c, t.process)
	if n == nil {
		t.AX = eAGAIN
		return
	}
	n.R15, n.R14, n.R13, n.R12, n.BP, n.BX = t.R15, t.R14, t.R13, t.R12, t.BP, t.BX
	n.R10, n.R9, n.R8, n.DX, n.SI, n.DI = t.R10, t.R9, t.R8, t.DX, t.SI, t.DI
	n.IP, n.Flags, n.SP = t.IP, t.Flags, t.SP
	if sp != 0 {
		n.SP = sp
	}
	n.AX = 0
	n.how = howSyscall
	n.mask = t.mask
	n.parent = t.parent
	n.affinity = t.affinity
	copyName(&n.name, &t.name)
	n.sched.SetPolicy(t.sched.Policy, t.sched.Priority, t.sched.Nice)
	n.sched.VRuntime = t.sched.VRuntime
	saveFull(t)
	x86.CopyForward(uint64(uintptr(unsafe.Pointer(&n.xsave))), uint64(uintptr(unsafe.Pointer(&t.xsave))), xsaveSize)
	n.fp = fpFull
	n.fs, n.gs = x86.ReadFS(), readGS()
	if flags&unix.CLONE_SETTLS != 0 {
		n.fs = tls
	}
	if flags&unix.CLONE_PARENT_SETTID != 0 {
		write32(c, parentTID, n.TID)
	}
	if flags&unix.CLONE_CHILD_SETTID != 0 {
		write32(c, childTID, n.TID)
	}
	if flags&unix.CLONE_CHILD_CLEARTID != 0 {
		n.clearTID = childTID
	}
	if t.process.dying {
		n.work |= workDie
	}
	t.AX = uint64(n.TID)
	enqueue(c, n, queueNew)
}

// sysSetTidAddress: set_tid_address(2).
func sysSetTidAddress(c *CPU, t *Thread) {
	t.clearTID = t.DI
	t.AX = uint64(t.TID)
}
