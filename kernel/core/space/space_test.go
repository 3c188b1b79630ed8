package space

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/frames/frametest"
	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/pagetable"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// machine stands in for a processor: it translates addresses as one does, with
// a buffer of translations that only Invalidate empties, and takes faults.
type machine struct {
	t      testing.TB
	frames *frames.Allocator
	memory Memory
	space  Space
	local  Local
	tlb    map[uint64]uint64 // page → entry for it, 4 KiB
	flush  int
}

func newMachine(t testing.TB, size int) *machine {
	m := &machine{t: t, frames: frametest.RAM(t, size), tlb: map[uint64]uint64{}}
	if !m.memory.Init(m.frames) {
		t.Fatal("Memory.Init")
	}
	m.memory.Invalidate = func(l *Local, s *Space, start, end uint64) {
		m.flush++
		for va := range m.tlb {
			if va >= start && va < end {
				delete(m.tlb, va)
			}
		}
	}
	if !m.space.Init(&m.memory, 0) {
		t.Fatal("Space.Init")
	}
	return m
}

// access returns where the byte at va is, or what the fault was.
func (m *machine) access(va uint64, write bool) (uint64, Result) {
	for range 4 {
		e, cached := m.tlb[va&^pageMask]
		if !cached {
			table := m.space.Root()
			for _, shift := range []uint64{39, 30, 21, 12} {
				e = *phys.Word(table + va>>shift&511*8)
				if e&pagetable.Present == 0 {
					e = 0
					break
				}
				if e&pagetable.User == 0 {
					m.t.Fatalf("%#x is the kernel's", va)
				}
				if shift == 21 && e&pagetable.Large != 0 {
					e = e&^(pagetable.Address|pagetable.Large) | e&pagetable.Address&^hugeMask | va&hugeMask&^pageMask
					break
				}
				table = e & pagetable.Address
			}
		}
		if e&pagetable.Present != 0 && (!write || e&pagetable.Writable != 0) {
			m.tlb[va&^pageMask] = e
			return e&pagetable.Address + va&pageMask, Resolved
		}
		delete(m.tlb, va&^pageMask) // as a fault does
		code := uint64(CodeUser)
		if write {
			code |= CodeWrite
		}
		if r := m.space.Fault(&m.local, va, code); r != Resolved {
			return 0, r
		}
	}
	m.t.Fatalf("fault at %#x is never resolved", va)
	return 0, NoMemory
}

// again repeats a call until it is complete.
func (m *machine) again(call func() unix.Errno) unix.Errno {
	m.t.Helper()
	for range 1 << 14 {
		if e := call(); e != Again {
			return e
		}
	}
	m.t.Helper()
	panic("a call is never complete")
}

func (m *machine) mmap(r Request) (addr uint64, e unix.Errno) {
	e = m.again(func() (e unix.Errno) { addr, e = m.space.Map(&m.local, &r); return e })
	return addr, e
}

func (m *machine) munmap(addr, n uint64) unix.Errno {
	return m.again(func() unix.Errno { return m.space.Unmap(&m.local, addr, n) })
}

// from repeats a call that says where it goes on.
func (m *machine) from(at uint64, call func(from uint64) (uint64, unix.Errno)) unix.Errno {
	return m.again(func() unix.Errno {
		next, e := call(at)
		if e == Again {
			if next < at {
				m.t.Fatalf("a step went from %#x back to %#x", at, next)
			}

			at = next
		}
		return e
	})
}

func (m *machine) mprotect(addr, n uint64, prot uint32) unix.Errno {
	return m.from(addr, func(from uint64) (uint64, unix.Errno) { return m.space.Protect(&m.local, addr, n, prot, from) })
}

func (m *machine) madvise(addr, n uint64, advice uint32) unix.Errno {
	return m.from(addr, func(from uint64) (uint64, unix.Errno) { return m.space.Advise(&m.local, addr, n, advice, from) })
}

func (m *machine) mlock(addr, n uint64, flags uint32) unix.Errno {
	return m.from(0, func(from uint64) (uint64, unix.Errno) { return m.space.Lock(&m.local, addr, n, flags, from) })
}

func (m *machine) mremap(addr, old, n uint64, flags uint32, to uint64) (at uint64, e unix.Errno) {
	e = m.again(func() (e unix.Errno) { at, e = m.space.Remap(&m.local, addr, old, n, flags, to); return e })
	return at, e
}

// finish unmaps everything and checks that no frame is lost.
func (m *machine) finish(free uint64) {
	m.t.Helper()
	m.again(func() unix.Errno { return m.space.Destroy(&m.local) })
	for m.memory.Reap() {
	}
	held := m.memory.Areas.Slabs() + m.memory.Objects.Slabs()
	if got := m.frames.Free() + held; got != free {
		m.t.Errorf("%d frames are missing, %d tables", int64(free-got), m.space.Tables.Tables)
	}
	s := &m.space
	if s.total|s.data|s.locked|s.anonymous|s.borrowed != 0 || m.memory.Anonymous|m.memory.HugeAnonymous != 0 {
		m.t.Errorf("left: total %d data %d locked %d anonymous %d borrowed %d, in all %d, huge %d", s.total, s.data, s.locked, s.anonymous, s.borrowed, m.memory.Anonymous, m.memory.HugeAnonymous)
	}
	if m.memory.Areas.Used() != 0 || m.memory.Objects.Used() != 0 {
		m.t.Errorf("%d areas, %d objects are left", m.memory.Areas.Used(), m.memory.Objects.Used())
	}
	frametest.Check(m.t, m.frames)
}

// verify compares the space's counts with its areas and tables.
func (m *machine) verify() {
	m.t.Helper()
	var total, data, locked uint64
	for a := m.space.Areas.First(); a != nil; a = a.Next {
		n := (a.End - a.Start) >> pageShift
		total += n
		if isData(a.Prot, a.Flags) {
			data += n
		}
		if a.Flags&vma.Locked != 0 {
			locked += n
		}
		if a.Start >= a.End || a.Start&pageMask != 0 || mergeable(a, a.Next) && a.Object != nil {
			m.t.Fatalf("area %#x-%#x", a.Start, a.End)
		}
	}
	s := &m.space
	if total != s.total || data != s.data || locked != s.locked {
		m.t.Fatalf("total %d data %d locked %d, want %d %d %d", s.total, s.data, s.locked, total, data, locked)
	}
	resident := uint64(0)
	for a := s.Areas.First(); a != nil; a = a.Next {
		resident += s.Resident(a, NoLimit)
	}
	if resident>>pageShift != s.anonymous+s.borrowed {
		m.t.Fatalf("%d pages resident, counted %d and %d", resident>>pageShift, s.anonymous, s.borrowed)
	}
}

// cell is the first word of a page in the model.
type cell struct{ value uint64 }

// page is what the model knows of a mapped page.
type page struct {
	prot   uint32
	flags  uint32
	own    *cell   // its private contents, nil: none yet
	shared []*cell // the object's pages
	index  uint64
}

// TestRandom runs random calls and accesses against a model of single pages.
func TestRandom(t *testing.T) {
	for _, mode := range []uint64{HugeNever, HugeMadvise, HugeAlways} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("huge=%d/%d", mode, seed), func(t *testing.T) { randomCalls(t, mode, seed) })
		}
	}
}

func randomCalls(t *testing.T, mode, seed uint64) {
	m := newMachine(t, 256<<20)
	free := m.frames.Free() + 1 // and the top table, which Destroy frees
	m.memory.HugeMode = mode
	r := rand.New(rand.NewPCG(21, seed))
	const base, pages = uint64(0x40_0000_0000), 4 * 512
	model := map[uint64]*page{}
	type object struct {
		cells []*cell
		o     *objectHandle
	}
	var objects []object
	for range 3 {
		o := m.memory.NewObject()
		n := 64 + r.IntN(600)
		m.memory.Resize(&m.local, o, uint64(n)*pageSize)
		h := object{o: &objectHandle{o}}
		for range n {
			h.cells = append(h.cells, &cell{})
		}
		objects = append(objects, h)
	}
	va := func(p uint64) uint64 { return base + p<<pageShift }
	span := func() (uint64, uint64) {
		n := uint64(1 + r.IntN(20))
		switch r.IntN(6) {
		case 0:
			n = uint64(1 + r.IntN(700))
		case 1:
			n = 512
		}
		p := uint64(r.IntN(pages))
		if r.IntN(3) == 0 {
			p &^= 511
		}
		return p, min(n, pages-p)
	}
	next := uint64(1)
	value := func(p *page) uint64 {
		switch {
		case p.own != nil:
			return p.own.value
		case p.shared != nil:
			return p.shared[p.index].value
		}
		return 0
	}
	covered := func(p, n uint64) bool {
		for i := p; i < p+n; i++ {
			if model[i] == nil {
				return false
			}
		}
		return true
	}
	for step := range 6000 {
		p, n := span()
		switch op := r.IntN(20); {
		case op < 3: // map
			flags := uint32(unix.MAP_FIXED)
			prot := uint32(r.IntN(4))
			if r.IntN(2) == 0 {
				prot = vma.Read | vma.Write
			}
			req := Request{Addr: va(p), Length: n << pageShift, Prot: prot}
			var cells []*cell
			off := uint64(0)
			if r.IntN(2) == 0 {
				h := objects[r.IntN(len(objects))]
				off = uint64(r.IntN(len(h.cells)))
				req.Object, req.Offset, req.Readable, req.Writable = h.o.o, off<<pageShift, true, true
				cells = h.cells
			} else {
				flags |= unix.MAP_ANONYMOUS
			}
			kind := uint32(unix.MAP_PRIVATE)
			if cells != nil && r.IntN(2) == 0 {
				kind = unix.MAP_SHARED
			}
			req.Flags = flags | kind
			if at, e := m.mmap(req); e != 0 || at != va(p) {
				t.Fatalf("step %d: mmap %v at %#x", step, e, at)
			}
			for i := range n {
				model[p+i] = &page{prot: prot, flags: kind, shared: cells, index: off + i}
			}
		case op < 5: // unmap
			if e := m.munmap(va(p), n<<pageShift); e != 0 {
				t.Fatalf("munmap: %v", e)
			}
			for i := range n {
				delete(model, p+i)
			}
		case op < 7: // protect
			prot := uint32(r.IntN(4))
			want := unix.Errno(0)
			if !covered(p, n) {
				want = unix.ENOMEM
			}
			if e := m.mprotect(va(p), n<<pageShift, prot); e != want {
				t.Fatalf("step %d: mprotect %v, want %v", step, e, want)
			}
			for i := p; i < p+n && model[i] != nil; i++ {
				model[i].prot = prot
			}
		case op == 7: // DONTNEED
			want := unix.Errno(0)
			if !covered(p, n) {
				want = unix.ENOMEM
			}
			if e := m.madvise(va(p), n<<pageShift, unix.MADV_DONTNEED); e != want {
				t.Fatalf("step %d: madvise %v, want %v", step, e, want)
			}
			for i := p; i < p+n; i++ {
				if q := model[i]; q != nil && q.flags == unix.MAP_PRIVATE {
					q.own = nil
				}
			}
		case op == 8: // advice and locks that change no contents
			switch r.IntN(5) {
			case 0:
				m.madvise(va(p), n<<pageShift, unix.MADV_HUGEPAGE)
			case 1:
				m.madvise(va(p), n<<pageShift, unix.MADV_NOHUGEPAGE)
			case 2:
				m.madvise(va(p), n<<pageShift, unix.MADV_COLLAPSE)
			case 3:
				m.madvise(va(p), n<<pageShift, unix.MADV_POPULATE_READ)
			case 4:
				if m.mlock(va(p), n<<pageShift, uint32(r.IntN(2))); r.IntN(4) > 0 {
					m.space.Unlock(va(p), n<<pageShift)
				}
				m.space.UnlockAll()
			}
		case op == 9: // remap
			q := model[p]
			if q == nil {
				break
			}
			to, _ := span()
			if to+n > pages || p < to+n && to < p+n {
				break
			}
			var a *vma.Area = m.space.Areas.Find(va(p))
			if va(p+n) > a.End {
				n = (a.End - va(p)) >> pageShift
			}
			if at, e := m.mremap(va(p), n<<pageShift, n<<pageShift, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, va(to)); e != 0 || at != va(to) {
				t.Fatalf("step %d: mremap %v", step, e)
			}
			for i := range n {
				model[to+i] = model[p+i]
				delete(model, p+i)
			}
		case op == 10: // cut or extend an object
			h := &objects[r.IntN(len(objects))]
			size := 1 + r.IntN(700)
			if e := m.again(func() unix.Errno { return m.memory.Resize(&m.local, h.o.o, uint64(size)*pageSize) }); e != 0 {
				t.Fatalf("Resize: %v", e)
			}
			old := len(h.cells)
			cells := append([]*cell(nil), h.cells...)
			cells = cells[:min(size, old)]
			for len(cells) < size {
				cells = append(cells, &cell{})
			}
			for _, q := range model {
				if len(q.shared) > 0 && len(h.cells) > 0 && q.shared[0] == h.cells[0] {
					q.shared = cells
					if q.index >= uint64(size) {
						q.own = nil
					}
				}
			}
			h.cells = cells
		default: // accesses
			for range 12 {
				i := p + uint64(r.IntN(int(n)))
				write := r.IntN(2) == 0
				at := va(i)
				pa, got := m.access(at, write)
				q := model[i]
				want := Resolved
				switch {
				case q == nil:
					want = Unmapped
				case q.prot == 0 || write && q.prot&vma.Write == 0:
					want = Forbidden
				case q.shared != nil && q.index >= uint64(len(q.shared)):
					want = BeyondEnd
				}
				if got != want {
					t.Fatalf("step %d: access to %#x (write %v) gave %d, want %d", step, at, write, got, want)
				}
				if want != Resolved {
					continue
				}
				if v := *phys.Word(pa); v != value(q) {
					t.Fatalf("step %d: %#x holds %d, want %d", step, at, v, value(q))
				}
				if write {
					*phys.Word(pa) = next
					if q.flags == unix.MAP_PRIVATE {
						if q.own == nil {
							q.own = &cell{}
						}
						q.own.value = next
					} else {
						q.shared[q.index].value = next
					}
					next++
				}
			}
		}
		if step%50 == 0 {
			m.verify()
		}
	}
	m.verify()
	for i := range objects {
		m.memory.ReleaseObject(objects[i].o.o)
	}
	m.finish(free)
}

type objectHandle struct{ o *object.Object }
