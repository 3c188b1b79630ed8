//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/x86"
	"golang.org/x/sys/unix"
)

// What a program cost the kernel: faults by what they did, system calls by
// number and by who served them, and the time of faults and forwarded calls.
// Services show it below /proc/leveret; init's is printed when it ends.

// text is where an account is written to: memory, or the console.
type text struct {
	at, n, size uint64 // at 0: the console
}

func (w *text) byte(b byte) {
	if w.at == 0 {
		if b == '\n' {
			putc('\r')
		}
		putc(b)
		return
	}
	if w.n < w.size {
		wr8(w.at+w.n, b)
	}
	w.n++
}

func (w *text) string(s string) {
	for i := range len(s) {
		w.byte(s[i])
	}
}

func (w *text) number(v uint64) {
	if v >= 10 {
		w.number(v / 10)
	}
	w.byte('0' + byte(v%10))
}

// pair writes NAME=VALUE behind a space.
func (w *text) pair(name string, v uint64) {
	w.byte(' ')
	w.string(name)
	w.byte('=')
	w.number(v)
}

// line begins a line about a process.
func (w *text) line(p *Process, what string) {
	w.string("ACCT pid=")
	w.number(uint64(p.pid))
	w.byte(' ')
	w.string(what)
}

// nanoseconds converts TSC ticks.
func nanoseconds(ticks uint64) uint64 { return mulshift(ticks, tscMul) }

// faults: small mapped 4 KiB pages, pages of them; large are new pages of 2 MiB,
// inplace those of a file of the initramfs; copy copied a page on write.
func (w *text) faults(p *Process) {
	if p.as == nil {
		return
	}
	f := &p.as.Faults
	w.line(p, "faults")
	w.pair("all", p.faults)
	w.pair("small", f.Small)
	w.pair("pages", f.SmallPages)
	w.pair("large", f.Large)
	w.pair("inplace", f.InPlace)
	w.pair("copy", f.Copy)
	w.pair("spurious", f.Spurious)
	w.pair("failed", f.Failed)
	w.byte('\n')
}

// calls: of each system call how often core served it, and services; with
// acct=full how long core took, without what a thread waits and what services
// take.
func (w *text) calls(p *Process) {
	leaves := p.deadLeaves
	for t := p.first; t != nil; t = t.groupNext {
		leaves += t.leaves
	}
	if leaves != 0 {
		w.line(p, "call getpid,getppid")
		w.pair("entry", leaves)
		w.byte('\n')
	}
	for n := range p.calls {
		if p.calls[n] == 0 {
			continue
		}
		w.line(p, "call ")
		if name := systab[n].name; len(name) != 0 {
			w.string(name)
		} else {
			w.number(uint64(n))
		}
		w.pair("core", p.calls[n]-p.forwards[n])
		w.pair("forwarded", p.forwards[n])
		if p.callTicks != nil {
			w.pair("ns", nanoseconds(p.callTicks[n]))
		}
		w.byte('\n')
	}
}

// times: of the process, of its faults, and of its forwarded calls from the
// entry to the reply, those that waited in between without the wait; ns.
func (w *text) times(p *Process) {
	w.line(p, "time")
	w.pair("elapsed", nowNS()-p.start)
	w.pair("running", p.runtime())
	w.pair("faults", nanoseconds(p.faultTicks))
	w.pair("forwarded", nanoseconds(p.forwardTicks))
	w.byte('\n')
}

func (w *text) memory() {
	w.string("ACCT memory")
	w.pair("frames", memory.Total())
	w.pair("free", memory.Free())
	w.pair("tlb", flushes)
	w.pair("inputlost", inputLost)
	nmis := uint64(0)
	for i := uint64(0); i < ncpu; i++ {
		nmis += cpus[i].nmis
	}
	w.pair("nmis", nmis)
	w.byte('\n')
}

func (w *text) process(p *Process, what uint64) {
	if what == abi.AccountFaults || what == abi.AccountAll {
		w.faults(p)
	}
	if what == abi.AccountSyscalls || what == abi.AccountAll {
		w.calls(p)
	}
	if what == abi.AccountTimes || what == abi.AccountAll {
		w.times(p)
	}
}

// putAccount prints what init cost.
func putAccount(p *Process) {
	var w text
	w.process(p, abi.AccountAll)
	w.memory()
}

var accountBuffer [16 << 10]byte

// Account(what, address, n).
func hyperAccount(c *CPU, t *Thread) {
	w := text{at: addressOf(&accountBuffer), size: uint64(len(accountBuffer))}
	for p := processes; p != nil; p = p.next {
		if p != idleProcess {
			w.process(p, t.DI)
		}
	}
	if t.DI == abi.AccountMemory || t.DI == abi.AccountAll {
		w.memory()
	}
	answer(c, t, t.SI, t.DX, unsafe.Pointer(&accountBuffer), min(w.n, w.size))
	if t.AX == 0 {
		t.AX = min(w.n, w.size)
	}
}

// timedFault is pageFault, and counts.
func timedFault(c *CPU, t *Thread, addr uint64) {
	p := t.process
	p.faults++
	c.faultIP = t.IP
	begin := x86.Rdtsc()
	pageFault(c, t, addr)
	p.faultTicks += x86.Rdtsc() - begin
}

// timedSyscall is syscall, and counts with acct=full.
func timedSyscall(c *CPU, t *Thread) {
	p, n := t.process, uint64(uint32(t.AX))
	if !accountAll || n >= maxSyscall || n == unix.SYS_EXIT || n == unix.SYS_EXIT_GROUP {
		syscall(c, t) // behind an exit nothing of these may be touched
		return
	}
	if p.callTicks == nil {
		p.callTicks = (*callCounts)(allocPage())
	}
	begin := x86.Rdtsc()
	syscall(c, t)
	if p.callTicks != nil {
		p.callTicks[n] += x86.Rdtsc() - begin
	}
}
