// Package pagetable keeps the page tables of one address space: four levels
// (Intel SDM volume 3A, chapter 4.5), pages of 4 KiB and 2 MiB.
//
// The tables are frames reached through the direct map. Each counts its entries
// in use in the frame allocator's count, so a table that becomes empty is found
// and freed without looking at it. An entry is in use when it is not zero: an
// entry that is Hidden holds its page though the processor must not see it.
//
// The upper half of the address space, the kernel's, hangs on tables that exist
// from boot; of it only the lowest level is counted and freed.
//
// Nothing here invalidates translations: the caller does, before it frees the
// frames whose entries it cleared.
package pagetable

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// Bits of an entry. Those from Borrowed to Hidden are free for software.
const (
	Present  = 1 << 0
	Writable = 1 << 1
	User     = 1 << 2
	Accessed = 1 << 5
	Dirty    = 1 << 6
	Large    = 1 << 7 // a 2 MiB page, in an entry of the second level
	Borrowed = 1 << 9 // the frame belongs to an object: not freed with the entry
	Hidden   = 1 << 11
	NoExec   = 1 << 63

	// Address selects the physical address of an entry.
	Address = 0x000ffffffffff000

	// Half is the first address of the kernel's half as a 48-bit number.
	Half = 1 << 47

	entries = 512
)

// Map is the tables of an address space.
type Map struct {
	Root   uint64 // physical address of the top table
	Frames *frames.Allocator
	Tables uint64 // frames held for tables below the top one
}

// Init makes an empty top table and shares the upper half of that at kernel,
// unless kernel is 0. It reports false when there is no frame.
func (m *Map) Init(f *frames.Allocator, kernel uint64) bool {
	m.Frames, m.Tables = f, 0
	m.Root = f.AllocZero()
	if m.Root != 0 && kernel != 0 {
		half := uint64(entries / 2 * 8)
		phys.Copy(phys.Pointer(m.Root+half), phys.Pointer(kernel+half), half)
	}
	return m.Root != 0
}

// index returns the byte offset of va's entry in a table whose entries span
// 2^shift bytes.
func index(va uint64, shift uint64) uint64 { return va >> (shift & 63) << 3 & (entries*8 - 8) }

// Lookup returns the deepest entry that exists for va and how many bytes it
// spans: 4 KiB or 2 MiB for a page, or more or less for an entry that is zero,
// so that *slot == 0 means that nothing is mapped in the size bytes around va.
func (m *Map) Lookup(va uint64) (slot *uint64, size uint64) {
	const index = entries*8 - 8
	slot = phys.Word(m.Root + va>>36&index)
	e := *slot
	if e == 0 {
		return slot, 1 << 39
	}
	slot = phys.Word(e&Address + va>>27&index)
	if e = *slot; e == 0 || e&Large != 0 {
		return slot, 1 << 30
	}
	slot = phys.Word(e&Address + va>>18&index)
	if e = *slot; e == 0 || e&Large != 0 {
		return slot, 1 << 21
	}
	return phys.Word(e&Address + va>>9&index), 1 << 12
}

// table returns the entry for va of the level whose entries span 2^want bytes,
// making the tables above it. It is nil when there is no frame, or when a large
// page is in the way.
func (m *Map) table(va, want uint64) *uint64 {
	table := m.Root
	for shift := uint64(39); ; shift -= 9 {
		slot := phys.Word(table + index(va, shift))
		if shift == want {
			return slot
		}
		e := *slot
		if e == 0 {
			if e = m.Frames.AllocZero(); e == 0 {
				return nil
			}
			m.Tables++
			e |= Present | Writable | Accessed
			if va < Half {
				e |= User
			}
			*slot = e
			m.Use(slot, 1)
		} else if e&Large != 0 {
			return nil
		}
		table = e & Address
	}
}

// Slot returns the entry for the 4 KiB page at va; nil when there is no frame
// for a table, or when a 2 MiB page is in the way.
func (m *Map) Slot(va uint64) *uint64 { return m.table(va, 12) }

// LargeSlot returns the entry for the 2 MiB page at va; nil when there is no
// frame for a table. The entry may hold a table.
func (m *Map) LargeSlot(va uint64) *uint64 { return m.table(va, 21) }

// holder returns the physical address of the table that slot lies in.
func holder(slot *uint64) uint64 {
	return phys.Address(unsafe.Pointer(slot)) &^ (phys.PageSize - 1)
}

// counted reports whether the entries of table t are counted: not those of the
// top table, nor those of tables that were there at boot.
func (m *Map) counted(t uint64) bool { return t != m.Root && m.Frames.Owns(t) }

// Use says that n zero entries of slot's table were set.
func (m *Map) Use(slot *uint64, n uint64) {
	if t := holder(slot); m.counted(t) {
		m.Frames.Add(t, n)
	}
}

// Unuse says that n entries of slot's table, for pages at and around va, were
// cleared, and frees the tables that are empty now. No entry of a freed table
// may be used after it.
func (m *Map) Unuse(va uint64, slot *uint64, n uint64) {
	t := holder(slot)
	if !m.counted(t) || m.Frames.Sub(t, n) > 1 {
		return
	}
	m.prune(va, t)
}

// Trim frees slot's table, made for va and never filled, if it is empty.
func (m *Map) Trim(va uint64, slot *uint64) {
	if t := holder(slot); m.counted(t) && m.Frames.Count(t) == 1 {
		m.prune(va, t)
	}
}

// prune frees the table t on va's path, which is empty, and those above it that
// become empty by that.
func (m *Map) prune(va, t uint64) {
	for {
		table := m.Root
		for shift := uint64(39); ; shift -= 9 {
			slot := phys.Word(table + index(va, shift))
			if *slot&Address == t {
				if va >= Half && shift > 21 {
					return // the kernel's half keeps its upper tables
				}
				*slot = 0
				m.Frames.Release(t)
				m.Tables--
				if table == m.Root || !m.counted(table) || m.Frames.Sub(table, 1) > 1 {
					return
				}
				t = table
				break
			}
			if shift == 21 || *slot == 0 || *slot&Large != 0 {
				panic("pagetable: a table that is not on its path")
			}
			table = *slot & Address
		}
	}
}

// Split replaces the 2 MiB page in slot by a table with 512 entries for the
// same memory, with the same rights. A page that is not borrowed becomes 512
// frames of their own. It reports false when there is no frame for the table.
func (m *Map) Split(slot *uint64) bool {
	e := *slot
	t := m.Frames.Alloc(0)
	if t == 0 {
		return false
	}
	m.Tables++
	m.Frames.Add(t, entries)
	if e&Borrowed == 0 {
		m.Frames.Split(e & Address)
	}
	small := e &^ Large
	for p, n := phys.Pointer(t), entries; n > 0; n-- {
		*(*uint64)(p) = small
		p = unsafe.Add(p, 8)
		small += phys.PageSize
	}
	*slot = t | Present | Writable | Accessed | e&User
	return true
}

// Destroy frees the top table. Everything below it of the lower half must have
// been unmapped.
func (m *Map) Destroy() {
	m.Frames.Release(m.Root)
	m.Root = 0
}
