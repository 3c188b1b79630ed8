package vfs

import (
	"math"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

// chunk is how much one step of a transfer moves at most, in bytes: what core
// does in one hypercall.
const chunk = abi.MaxStep

// ReadAt reads at a position into the caller's memory. off is ignored by a
// stream.
func (f *File) ReadAt(v *usermem.Vector, off int64) (int64, Errno) {
	if f.Inode.IsDir() {
		return 0, unix.EISDIR
	}
	if f.Ops != nil {
		return f.Ops.Read(f, v, off)
	}
	var done int64
	for v.Left() > 0 {
		addr, n := v.Next(chunk)
		if n == 0 {
			break
		}
		got, e := f.Inode.Data.Read(off+done, v.Mem, addr, n)
		if e != 0 {
			return done, partial(done, e)
		}
		v.Advance(got)
		done += int64(got)
		if got < n && (got == 0 || off+done >= f.Inode.Size()) {
			break
		}
	}
	return done, 0
}

// partial is the error of a transfer of which a part is done: none.
func partial(done int64, e Errno) Errno {
	if done > 0 {
		return 0
	}
	return e
}

// WriteAt writes at a position, or at the end where O_APPEND is set, within
// limit bytes of file size (RLIMIT_FSIZE). It returns where the write ended.
// EFBIG; ENOSPC.
func (f *File) WriteAt(v *usermem.Vector, off int64, limit uint64) (n, end int64, errno Errno) {
	if f.Ops != nil {
		n, errno = f.Ops.Write(f, v, off)
		return n, off + max(n, 0), errno
	}
	i := f.Inode
	if f.Flags()&unix.O_APPEND != 0 {
		i.locks.append.Lock()
		defer i.locks.append.Unlock()
		off = i.Size()
	}
	if v.Left() == 0 {
		return 0, off, 0
	}
	if uint64(off) >= limit || off == math.MaxInt64 {
		return 0, off, unix.EFBIG
	}
	v.Limit(int64(min(limit, math.MaxInt64) - uint64(off)))
	if seals := atomic.LoadUint32(&i.Data.Head().Seals); seals != 0 {
		if seals&(unix.F_SEAL_WRITE|sealFutureWrite) != 0 || seals&unix.F_SEAL_GROW != 0 && off+v.Left() > i.Size() {
			return 0, off, unix.EPERM
		}
	}
	f.dropPrivileges()
	var done int64
	for v.Left() > 0 {
		addr, k := v.Next(chunk)
		if k == 0 {
			break
		}
		got, e := i.Data.Write(off+done, v.Mem, addr, k)
		v.Advance(got)
		done += int64(got)
		if e != 0 || got == 0 {
			errno = partial(done, e)
			break
		}
		if got < k && done > 0 && k <= chunk {
			// A fault or no room for the rest: the next turn says which, but
			// what is written counts.
			continue
		}
	}
	if done > 0 {
		i.Touch(f.NS.Now(), Modified|Changed)
	}
	return done, off + done, errno
}

const sealFutureWrite = 0x10 // F_SEAL_FUTURE_WRITE

// dropPrivileges clears set-user-ID and set-group-ID of a file that somebody
// without privilege writes (file_remove_privs of Linux).
func (f *File) dropPrivileges() {
	m := f.Inode.Mode()
	if m&(unix.S_ISUID|unix.S_ISGID) == 0 || f.Owner == nil || f.Owner.Cred.Privileged() {
		return
	}
	f.Inode.dropPrivileges()
}

func (i *Inode) dropPrivileges() {
	i.mu.Lock()
	defer i.mu.Unlock()
	m := i.mode &^ unix.S_ISUID
	if m&0o010 != 0 {
		m &^= unix.S_ISGID
	}
	atomic.StoreUint32(&i.mode, m)
	i.publish()
}

// Truncate sets the size: ftruncate(2). EINVAL for what has none.
func (f *File) Truncate(c *Caller, size int64) Errno {
	return f.Inode.Truncate(f.NS, size, math.MaxUint64)
}

// Truncate sets the size of a regular file, within a limit on its size.
func (i *Inode) Truncate(ns *Namespace, size int64, limit uint64) Errno {
	if i.IsDir() {
		return unix.EISDIR
	}
	if !i.IsRegular() {
		return unix.EINVAL
	}
	if i.Data == nil {
		return 0
	}
	if uint64(size) > limit && size > i.Size() {
		return unix.EFBIG
	}
	if seals := atomic.LoadUint32(&i.Data.Head().Seals); seals&unix.F_SEAL_SHRINK != 0 && size < i.Size() || seals&unix.F_SEAL_GROW != 0 && size > i.Size() {
		return unix.EPERM
	}
	if e := i.Data.Resize(size); e != 0 {
		return e
	}
	i.Touch(ns.Now(), Modified|Changed)
	return 0
}

// Allocate is fallocate(2).
func (f *File) Allocate(mode uint32, off, n int64, limit uint64) Errno {
	const known = unix.FALLOC_FL_KEEP_SIZE | unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_COLLAPSE_RANGE | unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_INSERT_RANGE | unix.FALLOC_FL_UNSHARE_RANGE
	if off < 0 || n <= 0 {
		return unix.EINVAL
	}
	if mode&^uint32(known|unix.FALLOC_FL_NO_HIDE_STALE|fallocWriteZeroes) != 0 {
		return unix.EOPNOTSUPP
	}
	switch mode &^ unix.FALLOC_FL_KEEP_SIZE {
	case 0, unix.FALLOC_FL_UNSHARE_RANGE, unix.FALLOC_FL_ZERO_RANGE:
	case unix.FALLOC_FL_PUNCH_HOLE:
		if mode&unix.FALLOC_FL_KEEP_SIZE == 0 {
			return unix.EOPNOTSUPP
		}
	case unix.FALLOC_FL_COLLAPSE_RANGE, unix.FALLOC_FL_INSERT_RANGE, fallocWriteZeroes:
		if mode&unix.FALLOC_FL_KEEP_SIZE != 0 {
			return unix.EOPNOTSUPP
		}
	default:
		return unix.EOPNOTSUPP
	}
	if !f.Writable() {
		return unix.EBADF
	}
	if f.IsStream() || f.Inode.Type() == unix.S_IFIFO {
		return unix.ESPIPE
	}
	if f.Inode.IsDir() {
		return unix.EISDIR
	}
	if !f.Inode.IsRegular() {
		return unix.ENODEV
	}
	if off > math.MaxInt64-n {
		return unix.EFBIG
	}
	if f.Inode.Data == nil {
		return unix.EOPNOTSUPP
	}
	if mode&^uint32(unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE) != 0 {
		return unix.EOPNOTSUPP // as tmpfs
	}
	seals := atomic.LoadUint32(&f.Inode.Data.Head().Seals)
	if mode&unix.FALLOC_FL_PUNCH_HOLE != 0 {
		if seals&(unix.F_SEAL_WRITE|sealFutureWrite) != 0 {
			return unix.EPERM
		}
		if e := f.Inode.Data.Punch(off, n); e != 0 {
			return e
		}
		f.Inode.Touch(f.NS.Now(), Modified|Changed)
		return 0
	}
	if uint64(off+n) > limit && mode&unix.FALLOC_FL_KEEP_SIZE == 0 && off+n > f.Inode.Size() {
		return unix.EFBIG
	}
	if seals&unix.F_SEAL_GROW != 0 && off+n > f.Inode.Size() {
		return unix.EPERM
	}
	if space := f.Inode.FS.Space; space != nil && n > chunk {
		// All or nothing: what is not there is not begun with.
		if _, free := space(); n > free+int64(atomic.LoadUint64(&f.Inode.Data.Head().Pages))*object.PageSize {
			return unix.ENOSPC
		}
	}
	if e := f.Inode.Data.Allocate(off, n); e != 0 {
		return e
	}
	if mode&unix.FALLOC_FL_KEEP_SIZE == 0 && off+n > f.Inode.Size() {
		if e := f.Inode.Data.Resize(off + n); e != 0 {
			return e
		}
	}
	f.Inode.Touch(f.NS.Now(), Modified|Changed)
	return 0
}

const fallocWriteZeroes = 0x80 // FALLOC_FL_WRITE_ZEROES

// SeekTo is lseek(2). The position is locked.
func (f *File) SeekTo(off int64, whence int) (int64, Errno) {
	if f.IsStream() {
		return 0, unix.ESPIPE
	}
	if s, ok := f.Ops.(Seekable); ok {
		return s.SeekFile(f, off, whence)
	}
	if f.Inode.IsDir() {
		return f.seekDir(off, whence)
	}
	size := f.Inode.Size()
	switch whence {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		if off == 0 {
			return f.Position(), 0
		}
		off += f.Position()
	case unix.SEEK_END:
		off += size
	case unix.SEEK_DATA, unix.SEEK_HOLE:
		if f.Inode.Data == nil {
			if off < 0 || off >= size {
				return 0, unix.ENXIO
			}
			if whence == unix.SEEK_HOLE {
				off = size
			}
			break
		}
		var e Errno
		if off, e = f.Inode.Data.Find(off, whence); e != 0 {
			return 0, e
		}
	default:
		return 0, unix.EINVAL
	}
	if off < 0 {
		return 0, unix.EINVAL
	}
	f.SetPosition(off)
	return off, 0
}

func (f *File) seekDir(off int64, whence int) (int64, Errno) {
	switch whence {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		off += f.Position()
	default:
		return 0, unix.EINVAL
	}
	if off < 0 {
		return 0, unix.EINVAL
	}
	f.SetPosition(off)
	return off, 0
}
