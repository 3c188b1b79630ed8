//go:build amd64

package main

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
)

// Reads and writes of files whose bytes are a memory object, served here when
// nothing about the file is unusual. Work is done in steps: between two of
// them the call is begun again, with t.progress bytes behind it.

// readFast serves a read of n bytes at off; move: the file's offset moves.
// false: services must serve it.
func readFast(c *CPU, t *Thread, x *File, off, n uint64, move bool) bool {
	if x.Object == 0 {
		return false
	}
	done := uint64(0)
	if t.retry {
		done = t.progress
		if move {
			off -= done // the offset has moved so far
		}
	} else if o := objectAt(x.Object); n <= pageSize-off&(pageSize-1) && off+n <= o.Size && reachable(c, t.SI, n) {
		// Bytes of one page that is there: the usual read.
		if from := o.Peek(off >> 12); from != 0 && userCopy(c, t.SI, directMap+from+off&(pageSize-1), n) != 0 {
			if move {
				x.Offset += int64(n)
			}
			t.AX = n
			return true
		}
	}
	got, errno := objectRead(c, objectAt(x.Object), off+done, t.SI+done, n-done)
	if errno != 0 {
		t.AX = failure(errno)
		if done != 0 {
			t.AX = done
		}
		return true
	}
	moreToDo(t, x, done+got, got, n, move)
	return true
}

// writeFast serves a write.
func writeFast(c *CPU, t *Thread, x *File, off, n uint64, move bool) bool {
	if x.Object == 0 || off+n > t.process.limits[unix.RLIMIT_FSIZE].Cur || n == 0 {
		return false
	}
	done := uint64(0)
	if t.retry {
		done = t.progress
		if move {
			off -= done
		}
	}
	got, errno := objectWrite(c, objectAt(x.Object), off+done, t.SI+done, n-done)
	if errno != 0 {
		if done == 0 {
			return errno == unix.EFAULT && fault(t)
		}
		t.AX = done
		return true
	}
	moreToDo(t, x, done+got, got, n, move)
	return true
}

func fault(t *Thread) bool {
	t.AX = eFAULT
	return true
}

// moreToDo ends a call, or a step of it that moved a full step's bytes.
func moreToDo(t *Thread, x *File, done, got, n uint64, move bool) {
	if move {
		x.Offset += int64(got)
	}
	t.AX = done
	if done < n && got == abi.MaxStep {
		t.progress = done
		t.work |= workRetry
	}
}
