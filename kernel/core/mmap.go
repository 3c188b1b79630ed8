//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/space"
)

// The system calls of the mmap family. They take their arguments from the
// registers and leave the result in AX. One that is long does a step, and then
// has the program make the same call again: interrupts, signals and other
// threads come in between. What a step leaves for the next is only where to go
// on; without it the call begins anew, which is right too, only slower.

// stepState is where a thread's call of several steps goes on.
type stepState struct {
	call, ip, a, b, next uint64
	addr, end            uint64 // of the mapping that mmap populates
}

// from returns where the call that t makes goes on, or what it begins with.
func (s *stepState) from(t *Thread, begin uint64) uint64 {
	f := regs(t)
	if s.call == f.AX && s.ip == f.IP && s.a == f.DI && s.b == f.SI && s.next != 0 {
		begin = s.next
	}
	s.next = 0
	return begin
}

// finish ends a step: the call is over, or made again.
func finish(t *Thread, next uint64, errno unix.Errno, result uint64) {
	f := regs(t)
	switch errno {
	case 0:
		f.AX = result
	case space.Again:
		s := &t.step
		s.call, s.ip, s.a, s.b, s.next = f.AX, f.IP, f.DI, f.SI, next
		f.IP -= 2 // SYSCALL
	default:
		f.AX = failure(errno)
	}
}

func sysMmap(c *CPU, t *Thread) {
	f := regs(t)
	as := asOf(t)
	r := space.Request{Addr: f.DI, Length: f.SI, Prot: uint32(f.DX), Flags: uint32(f.R10), Offset: f.R9}
	if at := t.step.from(t, 0); at != 0 { // mapped, and being populated
		mmapPopulate(c, t, as, at, t.step.end)
		return
	}
	if r.Offset&4095 != 0 {
		f.AX = failure(unix.EINVAL)
		return
	}
	if r.Flags&unix.MAP_ANONYMOUS == 0 {
		var errno unix.Errno
		if r.Object, r.Readable, r.Writable, errno = fileObject(c, t, f.R8); errno != 0 {
			f.AX = failure(errno)
			return
		}
	}
	addr, errno := as.Map(&c.mm, &r)
	if errno == 0 && as.PopulateFlags(r.Flags) {
		t.step.addr, t.step.end = addr, addr+(r.Length+4095)&^4095
		mmapPopulate(c, t, as, addr, t.step.end)
		return
	}
	finish(t, 0, errno, addr)
}

// mmapPopulate is the second part of an mmap: its pages from at to end.
func mmapPopulate(c *CPU, t *Thread, as *AddressSpace, at, end uint64) {
	next, errno := as.Populate(&c.mm, at, end, false)
	if errno != space.Again {
		errno = 0
	}
	finish(t, next, errno, t.step.addr)
}

func sysMunmap(c *CPU, t *Thread) {
	f := regs(t)
	finish(t, 0, asOf(t).Unmap(&c.mm, f.DI, f.SI), 0)
}

func sysMprotect(c *CPU, t *Thread) {
	f := regs(t)
	next, errno := asOf(t).Protect(&c.mm, f.DI, f.SI, uint32(f.DX), t.step.from(t, f.DI))
	finish(t, next, errno, 0)
}

func sysMremap(c *CPU, t *Thread) {
	f := regs(t)
	addr, errno := asOf(t).Remap(&c.mm, f.DI, f.SI, f.DX, uint32(f.R10), f.R8)
	finish(t, 0, errno, addr)
}

func sysMadvise(c *CPU, t *Thread) {
	f := regs(t)
	next, errno := asOf(t).Advise(&c.mm, f.DI, f.SI, uint32(f.DX), t.step.from(t, f.DI))
	finish(t, next, errno, 0)
}

func sysMlock(c *CPU, t *Thread) {
	f := regs(t)
	next, errno := asOf(t).Lock(&c.mm, f.DI, f.SI, 0, t.step.from(t, 0))
	finish(t, next, errno, 0)
}

func sysMlock2(c *CPU, t *Thread) {
	f := regs(t)
	next, errno := asOf(t).Lock(&c.mm, f.DI, f.SI, uint32(f.DX), t.step.from(t, 0))
	finish(t, next, errno, 0)
}

func sysMunlock(c *CPU, t *Thread) {
	f := regs(t)
	finish(t, 0, asOf(t).Unlock(f.DI, f.SI), 0)
}

func sysMlockall(c *CPU, t *Thread) {
	next, errno := asOf(t).LockAll(&c.mm, uint32(regs(t).DI), t.step.from(t, 0))
	finish(t, next, errno, 0)
}

func sysMunlockall(c *CPU, t *Thread) {
	asOf(t).UnlockAll()
	regs(t).AX = 0
}

func sysMsync(c *CPU, t *Thread) {
	f := regs(t)
	finish(t, 0, asOf(t).Sync(f.DI, f.SI, uint32(f.DX)), 0)
}

func sysBrk(c *CPU, t *Thread) {
	end, ok := asOf(t).Break(&c.mm, regs(t).DI)
	errno := unix.Errno(0)
	if !ok {
		errno = space.Again
	}
	finish(t, 0, errno, end)
}

// sysMincore fills the vector a piece at a time.
func sysMincore(c *CPU, t *Thread) {
	f := regs(t)
	as := asOf(t)
	begin, n := f.DI, f.SI
	if begin&4095 != 0 {
		f.AX = failure(unix.EINVAL)
		return
	}
	if begin > userTop || n > userTop-begin {
		f.AX = failure(unix.ENOMEM)
		return
	}
	pages := (n + 4095) >> 12
	done := t.step.from(t, 0) &^ 1
	done >>= 1
	var out [64]byte
	for budget := 0; done < pages; budget++ {
		if budget == 16 {
			finish(t, done<<1|1, space.Again, 0)
			return
		}
		got, errno := as.Mincore(begin+done<<12, out[:min(pages-done, uint64(len(out)))])
		if errno != 0 {
			f.AX = failure(errno)
			return
		}
		if !copyOut(c, f.DX+done, unsafe.Pointer(&out), uint64(got)) {
			f.AX = failure(unix.EFAULT)
			return
		}
		done += uint64(got)
	}
	f.AX = 0
}

// failure is the result of a call that failed.
func failure(e unix.Errno) uint64 { return -uint64(e) }
