package space

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

const anonymous = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS

func (m *machine) anon(n uint64) uint64 {
	m.t.Helper()
	addr, e := m.mmap(Request{Length: n, Prot: 3, Flags: anonymous})
	if e != 0 {
		m.t.Fatal(e)
	}
	return addr
}

func (m *machine) touch(va uint64, write bool, want Result) uint64 {
	m.t.Helper()
	pa, r := m.access(va, write)
	if r != want {
		m.t.Fatalf("access to %#x (write %v) is %d, want %d", va, write, r, want)
	}
	return pa
}

// TestInPlace maps a file of the initramfs that lies on 2 MiB: large pages in
// place, no frame for the data, copies only where a private mapping writes.
func TestInPlace(t *testing.T) {
	m := newMachine(t, 64<<20)
	free := m.frames.Free() + 1
	// 8 MiB that the archive occupies: taken from the allocator for this test
	archive := m.frames.Alloc(11)
	for at := archive; at < archive+8<<20; at += pageSize {
		*phys.Word(at) = at
	}
	o := m.memory.NewObject()
	const size = 7<<20 + 12345
	o.InitInPlace(m.frames, archive, size)
	before := m.frames.Free()
	addr, e := m.mmap(Request{Length: size, Prot: vma.Read, Flags: unix.MAP_PRIVATE, Object: o, Readable: true})
	if e != 0 || addr&hugeMask != archive&hugeMask {
		t.Fatalf("mapped at %#x: %v", addr, e)
	}
	for at := uint64(0); at < size; at += pageSize {
		pa := m.touch(addr+at, false, Resolved)
		if *phys.Word(pa) != archive+at {
			t.Fatalf("offset %#x shows %#x", at, *phys.Word(pa))
		}
	}
	if f := m.space.Faults; f.InPlace != 3 || f.Large != 0 || f.Small > 6 {
		t.Errorf("%+v", f)
	}
	// tables, slabs, and the last page, which ends in the next file's header, with its nodes
	if used := before - m.frames.Free(); used > 9 {
		t.Errorf("%d frames were used", used)
	}
	last := m.touch(addr+size-1, false, Resolved) &^ pageMask
	for i := uint64(size & pageMask); i < pageSize; i++ {
		if *(*byte)(phys.Pointer(last + i)) != 0 {
			t.Fatalf("byte %#x beyond the end is not zero", i)
		}
	}
	if e := m.mprotect(addr, size, 3); e != 0 {
		t.Fatal(e)
	}
	m.touch(addr+2<<20+5*pageSize, true, Resolved)
	*phys.Word(m.touch(addr+2<<20+5*pageSize, true, Resolved)) = 1
	if *phys.Word(archive + 2<<20 + 5*pageSize) == 1 || m.space.Faults.Copy != 1 {
		t.Errorf("a private write reached the archive, or was not copied once: %+v", m.space.Faults)
	}
	m.munmap(addr, size)
	m.memory.ReleaseObject(o)
	m.frames.Release(archive)
	m.finish(free)
}

func TestLargePages(t *testing.T) {
	m := newMachine(t, 64<<20)
	free := m.frames.Free() + 1
	addr := m.anon(8 << 20)
	m.madvise(addr, 8<<20, unix.MADV_HUGEPAGE)
	for at := addr; at < addr+8<<20; at += pageSize {
		*phys.Word(m.touch(at, true, Resolved)) = at
	}
	if f := m.space.Faults; f.Large != 4 || f.Small != 0 || m.memory.HugeAnonymous != 4*hugePages {
		t.Fatalf("%+v, %d huge", f, m.memory.HugeAnonymous)
	}
	hole := addr + 3<<20 + 0x5000
	m.munmap(hole, pageSize)
	m.touch(hole, false, Unmapped)
	if m.memory.HugeAnonymous != 3*hugePages {
		t.Errorf("%d huge pages after a split", m.memory.HugeAnonymous)
	}
	for at := addr; at < addr+8<<20; at += pageSize {
		if at != hole && *phys.Word(m.touch(at, false, Resolved)) != at {
			t.Fatalf("%#x lost its contents", at)
		}
	}
	m.verify()
	m.finish(free)
}

func TestGrowDown(t *testing.T) {
	m := newMachine(t, 64<<20)
	const top = uint64(0x7000_0000_0000)
	if _, e := m.mmap(Request{Addr: top - 0x2000, Length: 0x2000, Prot: 3, Flags: anonymous | unix.MAP_FIXED | unix.MAP_GROWSDOWN}); e != 0 {
		t.Fatal(e)
	}
	m.touch(top-0x10000, true, Resolved)
	m.touch(top-8<<20, true, Resolved)
	m.touch(top-8<<20-1, true, Unmapped) // RLIMIT_STACK
	m.space.Limits.Stack = 64 << 20
	low := top - 20<<20
	if _, e := m.mmap(Request{Addr: low, Length: pageSize, Prot: 1, Flags: anonymous | unix.MAP_FIXED}); e != 0 {
		t.Fatal(e)
	}
	m.touch(low+pageSize+vma.Guard-1, true, Unmapped)
	m.touch(low+pageSize+vma.Guard, true, Resolved)
	m.verify()
}

func TestLimits(t *testing.T) {
	m := newMachine(t, 64<<20)
	s := &m.space
	s.Privileged = false
	s.Limits = Limits{AddressSpace: 1 << 20, Data: 512 << 10, Stack: 1 << 20, Locked: 64 << 10}
	call := func(want unix.Errno, r Request) {
		t.Helper()
		if _, e := m.mmap(r); e != want {
			t.Fatalf("mmap: %v, want %v", e, want)
		}
	}
	call(unix.ENOMEM, Request{Length: 1<<20 + 1, Flags: anonymous})
	call(unix.ENOMEM, Request{Length: 516 << 10, Prot: 3, Flags: anonymous})
	call(unix.EAGAIN, Request{Length: 68 << 10, Prot: 3, Flags: anonymous | unix.MAP_LOCKED})
	call(0, Request{Length: 512 << 10, Prot: 3, Flags: anonymous})
	call(unix.ENOMEM, Request{Length: pageSize, Prot: 3, Flags: anonymous})
	call(0, Request{Length: 512 << 10, Flags: anonymous})
	call(unix.ENOMEM, Request{Length: pageSize, Flags: anonymous})
	a := s.Areas.First()
	if e := m.mlock(a.Start, 68<<10, 0); e != unix.ENOMEM {
		t.Errorf("mlock: %v", e)
	}
	m.verify()
}

// TestExhausted takes all memory by every way that a program has, and finds an
// error each time, nothing lost, and the reserve untouched.
func TestExhausted(t *testing.T) {
	m := newMachine(t, 16<<20)
	free := m.frames.Free() + 1
	m.frames.SetReserve(200)
	addr := m.anon(12 << 20)
	end := addr + 12<<20
	big, e := m.mmap(Request{Length: 64 << 20, Prot: 3, Flags: anonymous | unix.MAP_NORESERVE})
	if e != 0 {
		t.Fatal(e)
	}
	_ = end
	at := big
	for ; at < big+64<<20; at += pageSize {
		if _, r := m.access(at, true); r == NoMemory {
			break
		} else if r != Resolved {
			t.Fatal(r)
		}
	}
	if f := m.frames.Free(); f > 201 || f < 150 {
		t.Errorf("%d frames are left of a reserve of 200", f)
	}
	m.touch(addr, true, NoMemory)
	if e := m.madvise(addr, 1<<20, unix.MADV_POPULATE_WRITE); e != unix.ENOMEM {
		t.Errorf("populate: %v", e)
	}
	if e := m.mlock(addr, 1<<20, 0); e != unix.EAGAIN {
		t.Errorf("mlock: %v", e)
	}
	m.space.UnlockAll()
	o := m.memory.NewObject()
	if o == nil || o.Page(0) != 0 {
		t.Error("a file page from the reserve")
	}
	m.memory.ReleaseObject(o)
	if e := m.munmap(big+5*pageSize, pageSize); e != 0 {
		t.Errorf("munmap: %v", e)
	}
	m.verify()
	m.finish(free)
}
