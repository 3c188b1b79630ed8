//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"golang.org/x/sys/unix"
)

// Entry code calls through these (see state.go).
var (
	workFn    = exitWork
	tracedFn  = tracedSyscall
	receiveFn = receive
)

// sysFn is the table of system calls as the dispatcher uses it: systab's
// functions, without holes.
var sysFn [maxSyscall]func(*CPU, *Thread)

// maxSyscall is above the highest number of a system call that has a function.
const maxSyscall = 512

// initSyscalls fills the table.
func initSyscalls() {
	for i := range sysFn {
		sysFn[i] = unknown
		if f := systab[i].fn; f != nil {
			sysFn[i] = f
		}
	}
}

// syscall serves the system call that t, the current thread, has made. The
// exit path then resumes c.cur, whoever that is.
func syscall(c *CPU, t *Thread) {
	n := uint64(uint32(t.AX))
	if n < maxSyscall {
		t.process.calls[n]++
		sysFn[n](c, t)
		return
	}
	if n >= abi.HypercallFirst && t.ring0() {
		hypercall(c, t, n)
		return
	}
	t.AX = eNOSYS
}

// exitWork does one thing of what t, the current thread, has to do before it
// resumes, the most urgent first. The exit path calls it until no work is
// left.
func exitWork(c *CPU, t *Thread) {
	w := t.work
	switch {
	case w&workGone != 0:
		t.work = 0
		finishExit(c, t)
	case w&workDie != 0 && t.how != howReceive:
		t.work = 0
		exitThread(c, t, t.process.code)
	case w&workRseq != 0:
		t.work &^= workRseq
		if !resumeRseq(c, t) {
			force(c, t, uint64(unix.SIGSEGV), siKern, 0)
		}
	case w&workForward != 0:
		t.work &^= workForward
		forwardAgain(c, t)
	case w&workRetry != 0:
		// Between two steps others may run: no interrupt has come meanwhile.
		if c.armed <= nowNS() {
			sample(c, t, true)
			timersDue(c)
		}
		if t.work&workResched != 0 {
			t.work &^= workResched
			preempt(c, t)
			return
		}
		t.work &^= workRetry
		n := uint64(uint32(t.call))
		t.AX = t.call
		t.retry = true
		if n < maxSyscall {
			sysFn[n](c, t)
		}
		t.retry, t.timedOut = false, false
	case w&workSignal != 0:
		t.work &^= workSignal
		deliverSignals(c, t)
	case w&workMask != 0:
		t.work &^= workMask
		if t.restore {
			t.restore = false
			setMask(t, t.saved)
		}
	default:
		t.work &^= workResched | workDie
		preempt(c, t)
	}
}

// unknown serves numbers that have no function: ENOSYS, logged once each.
func unknown(c *CPU, t *Thread) {
	n := uint64(uint32(t.call))
	t.AX = eNOSYS
	if n >= maxSyscall || t.ring0() {
		return
	}
	if logged[n/64]>>(n%64)&1 != 0 {
		return
	}
	logged[n/64] |= 1 << (n % 64)
	puts("core: ")
	putName(&t.name)
	puts(": system call ")
	putdec(n)
	puts(" is not known\n")
}

var logged [maxSyscall / 64]uint64

func putName(name *[16]byte) {
	for _, b := range name {
		if b == 0 {
			return
		}
		putKept(b)
	}
}

// tracedSyscall is syscall for strace=1, which prints number and result, and
// for acct=full, which takes the time.
func tracedSyscall(c *CPU, t *Thread) {
	if t.ring0() {
		syscall(c, t)
		return
	}
	if !traceSys {
		timedSyscall(c, t)
		return
	}
	n := uint64(uint32(t.AX))
	puts("core: ")
	putdec(nowNS() / 1000)
	puts(" ")
	putdec(uint64(t.TID))
	puts(" ")
	if n < maxSyscall && len(systab[n].name) != 0 {
		puts(systab[n].name)
	} else {
		putdec(n)
	}
	kv("(", t.DI)
	kv(", ", t.SI)
	kv(", ", t.DX)
	kv(", ", t.R10)
	puts(")")
	timedSyscall(c, t)
	if c.cur == t && t.work == 0 {
		kv(" = ", t.AX)
	}
	puts("\n")
}
