//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/phys"
)

// Access to the memory of programs, and of services for their own calls. It
// goes by the direct map, page by page, after the tables were asked: a wrong
// address is found there and never faults in core. Without a suffix the space
// is that of the current thread; with the suffix In it is given.

// pageFor returns where the byte at a is, for reading or writing, or 0.
func (as *AddressSpace) pageFor(c *CPU, a uint64, write bool) uint64 {
	pa, ok := as.Address(&c.mm, a, write)
	if !ok {
		return 0
	}
	return directMap + pa
}

// copyIn copies n bytes at addr to dst; false when one of them cannot be read.
func copyIn(c *CPU, dst unsafe.Pointer, addr, n uint64) bool {
	if n == 0 {
		return true
	}
	if reachable(c, addr, n) && userCopy(c, uint64(uintptr(dst)), addr, n) != 0 {
		return true
	}
	as := asFor(c.cur, addr)
	return as != nil && as.CopyIn(&c.mm, dst, addr, n) == n
}

// copyOut copies n bytes from src to addr; false when one of them cannot be
// written.
func copyOut(c *CPU, addr uint64, src unsafe.Pointer, n uint64) bool {
	if n == 0 {
		return true
	}
	if reachable(c, addr, n) && userCopy(c, addr, uint64(uintptr(src)), n) != 0 {
		return true
	}
	as := asFor(c.cur, addr)
	return as != nil && as.CopyOut(&c.mm, addr, src, n) == n
}

// In user_amd64.s: access to memory of the current thread's space where it
// lies; ok is 0 where a page is not there, or not for writing.

func userCopy(c *CPU, dst, src, n uint64) (ok uint64)
func userLoad32(c *CPU, addr, _, _ uint64) (ok, v uint64)
func userLoad64(c *CPU, addr, _, _ uint64) (ok, v uint64)
func userStore64(c *CPU, addr, v, _ uint64) (ok uint64)

// reachable tells whether the current thread may have [addr, addr+n) accessed,
// and its tables are loaded.
func reachable(c *CPU, addr, n uint64) bool {
	if addr < userTop {
		return n <= userTop-addr && c.cur.as != nil
	}
	return c.cur.CS == kCS
}

// read32 reads the 4 bytes at addr.
func read32(c *CPU, addr uint64) (uint32, bool) {
	if reachable(c, addr, 4) {
		if ok, v := userLoad32(c, addr, 0, 0); ok != 0 {
			return uint32(v), true
		}
	}
	as := asFor(c.cur, addr)
	if as == nil {
		return 0, false
	}
	return read32In(c, as, addr)
}

// read64 reads the 8 bytes at addr.
func read64(c *CPU, addr uint64) (uint64, bool) {
	if reachable(c, addr, 8) {
		if ok, v := userLoad64(c, addr, 0, 0); ok != 0 {
			return v, true
		}
	}
	as := asFor(c.cur, addr)
	if as == nil {
		return 0, false
	}
	return as.get64(c, addr)
}

// write32 writes 4 bytes to addr.
func write32(c *CPU, addr uint64, v uint32) bool {
	as := asFor(c.cur, addr)
	return as != nil && as.put32(c, addr, v)
}

// write64 writes 8 bytes to addr.
func write64(c *CPU, addr uint64, v uint64) bool {
	if reachable(c, addr, 8) && userStore64(c, addr, v, 0) != 0 {
		return true
	}
	as := asFor(c.cur, addr)
	return as != nil && as.put64(c, addr, v)
}

func read32In(c *CPU, as *AddressSpace, addr uint64) (uint32, bool) {
	if addr&4095 <= 4092 {
		pa, ok := as.Address(&c.mm, addr, false)
		if !ok {
			return 0, false
		}
		return *(*uint32)(phys.Pointer(pa)), true
	}
	var v uint32
	ok := as.CopyIn(&c.mm, unsafe.Pointer(&v), addr, 4) == 4
	return v, ok
}

func (as *AddressSpace) put64(c *CPU, a, v uint64) bool {
	if a&4095 <= 4088 {
		pa, ok := as.Address(&c.mm, a, true)
		if ok {
			*phys.Word(pa) = v
		}
		return ok
	}
	return as.CopyOut(&c.mm, a, unsafe.Pointer(&v), 8) == 8
}

func (as *AddressSpace) put32(c *CPU, a uint64, v uint32) bool {
	if a&4095 <= 4092 {
		pa, ok := as.Address(&c.mm, a, true)
		if ok {
			*(*uint32)(phys.Pointer(pa)) = v
		}
		return ok
	}
	return as.CopyOut(&c.mm, a, unsafe.Pointer(&v), 4) == 4
}

func (as *AddressSpace) get64(c *CPU, a uint64) (uint64, bool) {
	if a&4095 <= 4088 {
		pa, ok := as.Address(&c.mm, a, false)
		if !ok {
			return 0, false
		}
		return *phys.Word(pa), true
	}
	var v uint64
	ok := as.CopyIn(&c.mm, unsafe.Pointer(&v), a, 8) == 8
	return v, ok
}

// futexKey returns what names the word at addr for all who share it: a memory
// object and the offset in it; 0 for private memory.
func (as *AddressSpace) futexKey(c *CPU, addr uint64) (object uintptr, offset uint64, ok bool) {
	if _, ok := as.Address(&c.mm, addr, false); !ok {
		return 0, 0, false
	}
	o, offset := as.FutexKey(addr)
	return uintptr(unsafe.Pointer(o)), offset, true
}
