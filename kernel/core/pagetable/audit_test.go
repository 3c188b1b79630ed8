package pagetable

import (
	"testing"

	"github.com/leveret-os/leveret/kernel/core/frames/frametest"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// Each mistake is found where it is, in small pages and large ones; a kernel
// half without one passes.
func TestAudit(t *testing.T) {
	const (
		direct  = 0xffff_9000_0000_0000
		core    = 0xffff_ffff_8020_0000
		coreEnd = core + 8<<12
		text    = 0x20_0000 // physical
		free    = 0xffff_c000_0000_0000
	)
	for name, c := range map[string]struct {
		va, entry uint64
		large     bool
		want      Mistake
		at        uint64
	}{
		"sound":               {free, 0x300000 | Present | Writable | NoExec, false, NoMistake, 0},
		"sound code":          {free, 0x300000 | Present, false, NoMistake, 0},
		"written code":        {free, 0x300000 | Present | Writable, false, WriteExecute, free},
		"large written code":  {free + 2<<20, 0x400000 | Present | Writable, true, WriteExecute, free + 2<<20},
		"a program's":         {free, 0x300000 | Present | User | NoExec, false, UserPage, free},
		"a large program's":   {free, 0x400000 | Present | User | NoExec, true, UserPage, free},
		"lower half":          {0x400000, 0x300000 | Present | User, false, LowerHalf, 0},
		"alias":               {direct + text, text | Present | Writable | NoExec, false, WritableAlias, direct + text},
		"large alias":         {direct + text, text | Present | Writable | NoExec, true, WritableAlias, direct + text},
		"read-only alias":     {direct + text, text | Present | NoExec, false, NoMistake, 0},
		"not present":         {free, 0x300000 | Writable | User, false, NoMistake, 0},
		"code outside core's": {coreEnd, text | Present, false, NoMistake, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := frametest.RAM(t, 64<<20)
			var m Map
			if !m.Init(f, 0) {
				t.Fatal("Init")
			}
			put := func(va, entry uint64, large bool) {
				slot := m.table(va, 12)
				if large {
					slot = m.table(va, 21)
					entry |= Large
				}
				*slot = entry
			}
			put(core, text|Present, false)
			put(c.va, c.entry, c.large)
			// The tables allow programs everything, so that only the page forbids it.
			allow(&m, c.va)
			var a Audited
			Audit(m.Root, direct, core, coreEnd, &a)
			if a.Mistake != c.want || a.At != c.at {
				t.Errorf("mistake %d at %#x, want %d at %#x", a.Mistake, a.At, c.want, c.at)
			}
			if c.want == NoMistake && (a.Pages == 0 || a.Executable == 0) {
				t.Errorf("%d pages, %d executable", a.Pages, a.Executable)
			}
		})
	}
}

// allow lets programs through the tables above va.
func allow(m *Map, va uint64) {
	table := m.Root
	for shift := uint64(39); shift > 12; shift -= 9 {
		e := phys.Word(table + index(va, shift))
		if *e&Present == 0 || *e&Large != 0 {
			return
		}
		*e |= User
		table = *e & Address
	}
}
