package calls

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Files is a descriptor table: what the threads of a process share, and what
// clone(CLONE_FILES) makes two processes share.
type Files struct {
	// Handle is core's table, 0 on the host.
	Handle uint64

	kernel *Kernel
	mu     sync.RWMutex
	slots  []descriptor
	free   int // no descriptor below is free
}

type descriptor struct {
	file    *vfs.File
	cloexec bool
	taken   bool // reserved: an open is under way
}

// NewFiles makes an empty table.
func (k *Kernel) NewFiles() *Files { return &Files{kernel: k, Handle: k.Machine.NewTable()} }

// Get returns the file of a descriptor with a reference, or nil.
func (t *Files) Get(fd uint64) *vfs.File {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if fd >= uint64(len(t.slots)) || t.slots[fd].file == nil {
		return nil
	}
	return t.slots[fd].file.Retain()
}

// Reserve finds the lowest free descriptor that is at least from and below
// limit. EMFILE.
func (t *Files) Reserve(from, limit uint64) (int, Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reserve(from, limit)
}

func (t *Files) reserve(from, limit uint64) (int, Errno) {
	start := max(from, uint64(t.free))
	fd := start
	for fd < uint64(len(t.slots)) && t.slots[fd].taken {
		fd++
	}
	if fd >= limit {
		return 0, unix.EMFILE
	}
	t.grow(int(fd))
	t.slots[fd].taken = true
	if start == uint64(t.free) {
		t.free = int(fd) + 1
	}
	return int(fd), 0
}

func (t *Files) grow(fd int) {
	for len(t.slots) <= fd {
		t.slots = append(t.slots, descriptor{})
	}
}

// Install gives a reserved descriptor its file, whose reference it takes.
// ENOMEM when core has no room for it; the descriptor is free then and the
// file is closed.
func (t *Files) Install(fd int, f *vfs.File, cloexec bool) Errno {
	t.mu.Lock()
	if e := t.kernel.Machine.Install(t.Handle, fd, f); e != 0 {
		t.cancel(fd)
		t.mu.Unlock()
		f.Close()
		return e
	}
	t.slots[fd] = descriptor{f, cloexec, true}
	t.mu.Unlock()
	return 0
}

// Cancel frees a reserved descriptor.
func (t *Files) Cancel(fd int) {
	t.mu.Lock()
	t.cancel(fd)
	t.mu.Unlock()
}

func (t *Files) cancel(fd int) {
	t.slots[fd] = descriptor{}
	t.free = min(t.free, fd)
}

// Replace puts a file at a descriptor of the caller's choice, and returns the
// file that was there for the caller to close. EBUSY while an open reserves
// that descriptor.
func (t *Files) Replace(fd int, f *vfs.File, cloexec bool) (old *vfs.File, e Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grow(fd)
	d := &t.slots[fd]
	if d.taken && d.file == nil {
		return nil, unix.EBUSY
	}
	if e := t.kernel.Machine.Install(t.Handle, fd, f); e != 0 {
		return nil, unix.ENOMEM
	}
	old = d.file
	*d = descriptor{f, cloexec, true}
	return old, 0
}

// Remove frees a descriptor and returns its file for the caller to close, or
// nil.
func (t *Files) Remove(fd uint64) *vfs.File {
	t.mu.Lock()
	defer t.mu.Unlock()
	if fd >= uint64(len(t.slots)) || t.slots[fd].file == nil {
		return nil
	}
	f := t.slots[fd].file
	t.kernel.Machine.Remove(t.Handle, int(fd))
	t.cancel(int(fd))
	return f
}

// CloseOnExec reads the descriptor flag, and sets it when set is not nil.
func (t *Files) CloseOnExec(fd uint64, set *bool) (on bool, e Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if fd >= uint64(len(t.slots)) || t.slots[fd].file == nil {
		return false, unix.EBADF
	}
	if set != nil {
		t.slots[fd].cloexec = *set
	}
	return t.slots[fd].cloexec, 0
}

// Next returns the first descriptor from fd on that has a file, -1 for none,
// and a reference to the file.
func (t *Files) Next(fd uint64) (int, *vfs.File) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for ; fd < uint64(len(t.slots)); fd++ {
		if f := t.slots[fd].file; f != nil {
			return int(fd), f.Retain()
		}
	}
	return -1, nil
}

// Clone copies the table, as fork does.
func (t *Files) Clone() *Files {
	n := t.kernel.NewFiles()
	t.mu.RLock()
	defer t.mu.RUnlock()
	n.free = t.free
	n.slots = make([]descriptor, len(t.slots))
	for fd, d := range t.slots {
		if d.file != nil {
			n.slots[fd] = descriptor{d.file.Retain(), d.cloexec, true}
			t.kernel.Machine.Install(n.Handle, fd, d.file)
		} else if fd < n.free {
			n.free = fd
		}
	}
	return n
}

// CloseAll empties the table; only those marked close-on-exec when exec is
// set.
func (t *Files) CloseAll(exec bool, p *Process) {
	for fd := range t.slots {
		t.mu.RLock()
		on := t.slots[fd].cloexec
		t.mu.RUnlock()
		if exec && !on {
			continue
		}
		if f := t.Remove(uint64(fd)); f != nil {
			t.kernel.closeFile(p, t, f)
		}
	}
}
