package object

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// A Heap keeps objects in Go's memory. The zero value has no limit.
type Heap struct {
	// MaxPages bounds what all objects hold together, in pages; 0 is no
	// bound. What is beyond is ENOSPC.
	MaxPages int64

	pages atomic.Int64
}

// Pages is how many pages all objects hold.
func (h *Heap) Pages() int64 { return h.pages.Load() }

// Create implements Store.
func (h *Heap) Create(ino uint64) (Object, Errno) {
	o := &heapObject{heap: h, pages: map[int64]*[PageSize]byte{}}
	o.head.Ino, o.head.References = ino, 1
	return o, 0
}

// InPlace implements Store.
func (h *Heap) InPlace(data []byte, ino uint64) (Object, Errno) {
	o := &heapObject{heap: h, pages: map[int64]*[PageSize]byte{}, base: data}
	o.head.Ino, o.head.References, o.head.Size = ino, 1, uint64(len(data))
	return o, 0
}

// heapObject is a page table over a base that is never written.
type heapObject struct {
	heap  *Heap
	mu    sync.Mutex
	head  abi.ObjectHead
	pages map[int64]*[PageSize]byte
	base  []byte // bytes of pages that pages has not; a hole beyond it
}

func (o *heapObject) Head() *abi.ObjectHead { return &o.head }
func (o *heapObject) Handle() uint64        { return 0 }
func (o *heapObject) size() int64           { return int64(atomic.LoadUint64(&o.head.Size)) }

// page returns the page, made when it is not there.
func (o *heapObject) page(i int64) (*[PageSize]byte, Errno) {
	if p := o.pages[i]; p != nil {
		return p, 0
	}
	if m := o.heap.MaxPages; o.heap.pages.Add(1) > m && m != 0 {
		o.heap.pages.Add(-1)
		return nil, unix.ENOSPC
	}
	p := new([PageSize]byte)
	if at := i * PageSize; at < int64(len(o.base)) {
		copy(p[:], o.base[at:])
	}
	o.pages[i] = p
	atomic.AddUint64(&o.head.Pages, 1)
	return p, 0
}

func (o *heapObject) drop(i int64) {
	if o.pages[i] != nil {
		delete(o.pages, i)
		o.heap.pages.Add(-1)
		atomic.AddUint64(&o.head.Pages, ^uint64(0))
	}
}

// bytes returns what lies at off up to the end of its page; nil is a hole of
// n bytes.
func (o *heapObject) bytes(off int64) (b []byte, n int) {
	in := off % PageSize
	n = int(PageSize - in)
	if p := o.pages[off/PageSize]; p != nil {
		return p[in:], n
	}
	if off < int64(len(o.base)) {
		b = o.base[off:min(off+int64(n), int64(len(o.base)))]
		return b, len(b)
	}
	return nil, n
}

var zeroes [PageSize]byte

// Read implements Object.
func (o *heapObject) Read(off int64, m usermem.Memory, addr uint64, n int) (int, Errno) {
	o.mu.Lock()
	defer o.mu.Unlock()
	done := 0
	n = int(min(int64(n), max(o.size()-off, 0)))
	for done < n {
		b, k := o.bytes(off + int64(done))
		k = min(k, n-done)
		if b == nil {
			b = zeroes[:]
		}
		got := m.Out(addr+uint64(done), b[:k])
		done += got
		if got < k {
			if done == 0 {
				return 0, unix.EFAULT
			}
			break
		}
	}
	return done, 0
}

// Write implements Object.
func (o *heapObject) Write(off int64, m usermem.Memory, addr uint64, n int) (int, Errno) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var buf [PageSize]byte
	done := 0
	for done < n {
		at := off + int64(done)
		k := min(int(PageSize-at%PageSize), n-done)
		got := m.In(buf[:k], addr+uint64(done))
		if got > 0 {
			p, e := o.page(at / PageSize)
			if e != 0 {
				if done == 0 {
					return 0, e
				}
				break
			}
			copy(p[at%PageSize:], buf[:got])
			done += got
			o.grow(at + int64(got))
		}
		if got < k {
			if done == 0 {
				return 0, unix.EFAULT
			}
			break
		}
	}
	return done, 0
}

func (o *heapObject) grow(end int64) {
	if end > o.size() {
		atomic.StoreUint64(&o.head.Size, uint64(end))
	}
}

// ReadAt implements Object.
func (o *heapObject) ReadAt(p []byte, off int64) (int, Errno) {
	return o.Read(off, &usermem.Own{B: p}, 0, len(p))
}

// WriteAt implements Object.
func (o *heapObject) WriteAt(p []byte, off int64) (int, Errno) {
	return o.Write(off, &usermem.Own{B: p}, 0, len(p))
}

// Resize implements Object.
func (o *heapObject) Resize(size int64) Errno {
	o.mu.Lock()
	defer o.mu.Unlock()
	if size < o.size() {
		for i := range o.pages {
			if i*PageSize >= size {
				o.drop(i)
			}
		}
		if e := o.clear(size, -size&(PageSize-1)); e != 0 {
			return e
		}
		o.base = o.base[:min(int64(len(o.base)), (size+PageSize-1)&^(PageSize-1))]
	}
	atomic.StoreUint64(&o.head.Size, uint64(size))
	return 0
}

// clear zeroes n bytes inside one page.
func (o *heapObject) clear(off, n int64) Errno {
	i := off / PageSize
	if n == 0 || o.pages[i] == nil && off >= int64(len(o.base)) {
		return 0
	}
	p, e := o.page(i)
	if e != 0 {
		return e
	}
	clear(p[off%PageSize : off%PageSize+n])
	return 0
}

// Punch implements Object.
func (o *heapObject) Punch(off, n int64) Errno {
	o.mu.Lock()
	defer o.mu.Unlock()
	end := min(off+n, (o.size()+PageSize-1)&^(PageSize-1))
	if off >= end {
		return 0
	}
	// Whole pages that are held go; the rest of the base and the partial
	// pages at both ends are cleared.
	first, last := (off+PageSize-1)/PageSize, end/PageSize
	for i := range o.pages {
		if i >= first && i < last && i*PageSize >= int64(len(o.base)) {
			o.drop(i)
		}
	}
	for at := off; at < min(end, int64(len(o.base)+PageSize-1)&^(PageSize-1)); {
		k := min(PageSize-at%PageSize, end-at)
		if e := o.clear(at, k); e != 0 {
			return e
		}
		at += k
	}
	if first > last {
		return o.clear(off, end-off)
	}
	if e := o.clear(off, first*PageSize-off); e != 0 {
		return e
	}
	return o.clear(last*PageSize, end-last*PageSize)
}

// Allocate implements Object.
func (o *heapObject) Allocate(off, n int64) Errno {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := off / PageSize; i <= (off+n-1)/PageSize; i++ {
		if i*PageSize < int64(len(o.base)) {
			continue
		}
		if _, e := o.page(i); e != 0 {
			return e
		}
	}
	return 0
}

// Find implements Object.
func (o *heapObject) Find(off int64, whence int) (int64, Errno) {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := o.size()
	if off < 0 || off >= size {
		return 0, unix.ENXIO
	}
	held := slices.Sorted(maps.Keys(o.pages))
	based := func(i int64) bool { return i*PageSize < int64(len(o.base)) }
	at := off / PageSize
	if whence == unix.SEEK_HOLE {
		for based(at) || o.pages[at] != nil {
			at++
		}
	} else if !based(at) {
		n, _ := slices.BinarySearch(held, at)
		if n == len(held) || held[n]*PageSize >= size {
			return 0, unix.ENXIO
		}
		at = held[n]
	}
	return min(max(off, at*PageSize), size), 0
}

// Release implements Object.
func (o *heapObject) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.pages {
		o.drop(i)
	}
}
