package vfs

import (
	"math"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Lock is a record lock: fcntl(2)'s struct flock with the range made
// absolute. End is the last byte, math.MaxInt64 for "to the end of the file".
type Lock struct {
	Type       int16 // F_RDLCK, F_WRLCK, F_UNLCK
	Start, End int64
	Owner      any   // a descriptor table (POSIX) or a *File (open file description)
	PID        int32 // -1 of an open file description lock
}

// locks of one inode. append orders the writers of O_APPEND.
type locks struct {
	append sync.Mutex

	mu      sync.Mutex
	records []Lock
	whole   []wholeLock // flock(2)
}

type wholeLock struct {
	file      *File
	exclusive bool
}

// maxLocks is how many records one inode may carry.
const maxLocks = 4096

func (a *Lock) conflicts(b *Lock) bool {
	return a.Owner != b.Owner && b.Type != unix.F_UNLCK && (a.Type == unix.F_WRLCK || b.Type == unix.F_WRLCK) && a.Start <= b.End && b.Start <= a.End
}

// touches reports whether the ranges overlap or lie side by side.
func (a *Lock) touches(b *Lock) bool {
	return (b.End == math.MaxInt64 || a.Start <= b.End+1) && (a.End == math.MaxInt64 || b.Start <= a.End+1)
}

// TestLock finds a lock that stands in the way of l; with F_UNLCK one of the
// owner's own in the range, as F_OFD_GETLK has it.
func (i *Inode) TestLock(l Lock) (blocking Lock, found bool) {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	for _, o := range i.locks.records {
		if o.conflicts(&l) || l.Type == unix.F_UNLCK && o.Owner == l.Owner && o.Start <= l.End && l.Start <= o.End {
			return o, true
		}
	}
	return Lock{}, false
}

// SetLock takes, changes or (F_UNLCK) gives up a lock. EAGAIN when another
// owner's stands in the way; ENOLCK when there are too many.
func (i *Inode) SetLock(l Lock) Errno {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	if l.Type != unix.F_UNLCK {
		for _, o := range i.locks.records {
			if o.conflicts(&l) {
				return unix.EAGAIN
			}
		}
		if len(i.locks.records) >= maxLocks {
			return unix.ENOLCK
		}
	}
	kept := make([]Lock, 0, len(i.locks.records)+2)
	for _, o := range i.locks.records {
		switch {
		case o.Owner != l.Owner:
			kept = append(kept, o)
		case o.Type == l.Type && o.touches(&l):
			// Of one kind, and they touch: one lock.
			l.Start, l.End = min(l.Start, o.Start), max(l.End, o.End)
		case o.Start > l.End || o.End < l.Start:
			kept = append(kept, o)
		default:
			if left := o; o.Start < l.Start {
				left.End = l.Start - 1
				kept = append(kept, left)
			}
			if right := o; o.End > l.End {
				right.Start = l.End + 1
				kept = append(kept, right)
			}
		}
	}
	if l.Type != unix.F_UNLCK {
		kept = append(kept, l)
	}
	slices.SortFunc(kept, func(a, b Lock) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	i.locks.records = kept
	return 0
}

// DropLocks gives up all record locks of an owner; true when it had any.
func (i *Inode) DropLocks(owner any) bool {
	i.locks.mu.Lock()
	defer i.locks.mu.Unlock()
	n := len(i.locks.records)
	i.locks.records = slices.DeleteFunc(i.locks.records, func(l Lock) bool { return l.Owner == owner })
	return n != len(i.locks.records)
}

// LockWhole is flock(2): LOCK_SH, LOCK_EX, LOCK_UN. EAGAIN when another open
// file stands in the way; as on Linux, a lock of its own is then lost.
func (f *File) LockWhole(op int) Errno {
	l := &f.Inode.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	mine := slices.IndexFunc(l.whole, func(w wholeLock) bool { return w.file == f })
	exclusive := op == unix.LOCK_EX
	if mine >= 0 {
		if op != unix.LOCK_UN && l.whole[mine].exclusive == exclusive {
			return 0
		}
		l.whole = slices.Delete(l.whole, mine, mine+1)
	}
	if op == unix.LOCK_UN {
		return 0
	}
	for _, w := range l.whole {
		if exclusive || w.exclusive {
			return unix.EAGAIN
		}
	}
	l.whole = append(l.whole, wholeLock{f, exclusive})
	return 0
}

// dropFile gives up what a closing file holds; true when that was something.
func (l *locks) dropFile(f *File) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.whole) + len(l.records)
	l.whole = slices.DeleteFunc(l.whole, func(w wholeLock) bool { return w.file == f })
	l.records = slices.DeleteFunc(l.records, func(k Lock) bool { return k.Owner == any(f) })
	return n != len(l.whole)+len(l.records)
}
