package pagetable

import "github.com/leveret-os/leveret/kernel/core/phys"

// Mistake is what Audit holds against a kernel half.
type Mistake uint64

// The mistakes.
const (
	NoMistake     Mistake = iota
	WriteExecute          // a page that can be written and executed
	UserPage              // a page that programs may touch
	LowerHalf             // something is mapped in the programs' half
	WritableAlias         // the direct map lets core's code be written
)

// Audited is what Audit found.
type Audited struct {
	Pages      uint64 // mappings, of whatever size
	Executable uint64 // of them
	Mistake    Mistake
	At         uint64 // the address of the mistake
}

// Audit walks the kernel half below the top table at root as the processor
// does, and stops at the first mistake. Rights are those of the whole path:
// all levels must allow a write or a program's access, none may forbid
// execution. The lower half must be empty.
//
// Core's executable pages, from core to coreEnd, must not be writable where
// they appear in the direct map either.
func Audit(root, direct, core, coreEnd uint64, a *Audited) {
	a.Pages, a.Executable, a.Mistake, a.At = 0, 0, NoMistake, 0
	for i := uint64(0); i < entries && a.Mistake == NoMistake; i++ {
		va := i << 39
		e := *phys.Word(root + i*8)
		if e&Present == 0 {
			continue
		}
		if va < Half {
			a.fail(LowerHalf, va)
			return
		}
		a.level(root, e, va|0xffff<<48, 30, direct, core, coreEnd)
	}
}

func (a *Audited) fail(m Mistake, va uint64) {
	if a.Mistake == NoMistake {
		a.Mistake, a.At = m, va
	}
}

// path adds the rights of an entry to those of the entries above it.
func path(above, e uint64) uint64 {
	return above&e&(Writable|User) | (above|e)&NoExec | e&^(Writable|User|NoExec)
}

// level walks the table that e, with the rights of its whole path, points to;
// its entries map 1<<shift bytes each.
func (a *Audited) level(root, e, va, shift, direct, core, coreEnd uint64) {
	for i := uint64(0); i < entries; i++ {
		f := *phys.Word(e&Address + i*8)
		if f&Present == 0 {
			continue
		}
		at, f := va|i<<shift, path(e, f)
		if shift == 12 || f&Large != 0 {
			a.page(root, f, at, direct, core, coreEnd)
		} else {
			a.level(root, f, at, shift-9, direct, core, coreEnd)
		}
	}
}

// page judges a mapping whose entry has the rights of its whole path.
func (a *Audited) page(root, e, va, direct, core, coreEnd uint64) {
	a.Pages++
	if e&User != 0 {
		a.fail(UserPage, va)
	}
	if e&NoExec != 0 {
		return
	}
	a.Executable++
	if e&Writable != 0 {
		a.fail(WriteExecute, va)
	}
	if va < core || va >= coreEnd {
		return
	}
	if alias := direct + e&Address; rights(root, alias)&(Present|Writable) == Present|Writable {
		a.fail(WritableAlias, alias)
	}
}

// rights returns the entry that maps va with the rights of its whole path, or 0.
func rights(root, va uint64) uint64 {
	table, above := root, uint64(Writable|User)
	for shift := uint64(39); ; shift -= 9 {
		e := *phys.Word(table + index(va, shift))
		if e&Present == 0 {
			return 0
		}
		above = path(above, e)
		if shift == 12 || shift < 39 && e&Large != 0 {
			return above
		}
		table = e & Address
	}
}
