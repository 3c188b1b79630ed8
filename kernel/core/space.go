//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// AddressSpace is a program's memory, or services'; one frame.
type AddressSpace struct {
	space.Space
	pml4 uint64 // physical address of the top table, for CR3

	dead *AddressSpace // list of those to destroy
}

const _ = uint(4096 - unsafe.Sizeof(AddressSpace{}))

// newAddressSpace returns an empty address space for a program with one
// reference, or nil.
func newAddressSpace() *AddressSpace {
	as := (*AddressSpace)(allocPage())
	if as == nil {
		return nil
	}
	if !as.Space.Init(&mem, pml4Phys) {
		freePage(unsafe.Pointer(as))
		return nil
	}
	as.pml4 = as.Root()
	return as
}

// newServicesSpace returns the address space of services, on the tables that
// the kernel booted with.
func newServicesSpace() *AddressSpace {
	as := (*AddressSpace)(allocPage())
	if as == nil {
		die("no memory")
	}
	as.Space.InitKernel(&mem, pml4Phys, svcMmap, svcMmapE)
	as.pml4 = pml4Phys
	return as
}

var deadSpaces *AddressSpace

// reapSpaces does a step of destroying what was released, and reports whether
// there is more to do. No processor may still have the tables of a dead space
// loaded.
func reapSpaces(c *CPU) bool {
	as := deadSpaces
	if as == nil {
		return mem.Reap()
	}
	for i := uint64(0); i < ncpu; i++ {
		if cpus[i].curAS == as {
			if cpus[i] != c {
				return false
			}
			c.curAS = servicesSpace
			x86.WriteCR3(servicesSpace.pml4)
		}
	}
	if as.Destroy(&c.mm) == 0 {
		deadSpaces = as.dead
		freePage(unsafe.Pointer(as))
	}
	return true
}

// asOf returns the space that t's memory calls concern.
func asOf(t *Thread) *AddressSpace {
	if regs(t).CS == kCS {
		return servicesSpace
	}
	return t.as
}

// asFor returns the space in which t may have the kernel access address a, or
// nil.
func asFor(t *Thread, a uint64) *AddressSpace {
	if a >= userTop {
		if regs(t).CS == kCS {
			return servicesSpace
		}
		return nil
	}
	return t.as
}

// cpuOf returns the processor that l belongs to.
func cpuOf(l *space.Local) *CPU {
	return (*CPU)(unsafe.Add(unsafe.Pointer(l), -int(unsafe.Offsetof(CPU{}.mm))))
}

// invalidate drops the translations of [start, end) in s on every processor.
func invalidate(l *space.Local, s *space.Space, start, end uint64) {
	c := cpuOf(l)
	as := (*AddressSpace)(unsafe.Pointer(s))
	if c.curAS == as || as == servicesSpace {
		if end-start > 16*4096 {
			x86.WriteCR3(x86.ReadCR3())
		} else {
			for ; start < end; start += 4096 {
				x86.Invlpg(start)
			}
		}
	}
	flushOthers(c, as, start, end)
}
