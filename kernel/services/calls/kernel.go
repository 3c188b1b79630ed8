package calls

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = usermem.Errno

// A Kernel is the state that all processes share.
type Kernel struct {
	NS      *vfs.Namespace
	Machine Machine
	// Store makes the contents of memfd files.
	Store object.Store
	// MaxFiles bounds the open files of the system: ENFILE.
	MaxFiles int64
	// Hostname is uname(2)'s nodename.
	Hostname string
	// LockWait is the readiness object that NS.Unlocked posts.
	LockWait uint64

	// NewFileSystem makes one for mount(2), nil for a type that there is not.
	NewFileSystem func(kind string) *vfs.FileSystem

	hostname  atomic.Pointer[string]
	files     atomic.Int64
	pipes     atomic.Uint64
	anonymous *vfs.FileSystem
	core      *coreFile
	detach    func(*vfs.File)
	leaveFIFO func(*vfs.File)
	fifos     sync.Map // *vfs.Inode → *fifo
	processes sync.Map // uint32 → *Process
	nmapped   atomic.Int64
	mapped    sync.Map // uint64, an object's handle → *vfs.Entry it was opened by last
}

// maxMapped is how many names of files that were closed while they were mapped
// are kept for /proc/PID/maps; beyond, they are forgotten.
const maxMapped = 4096

// NewKernel completes what the caller has set.
func NewKernel(ns *vfs.Namespace, m Machine, store object.Store) *Kernel {
	k := &Kernel{NS: ns, Machine: m, Store: store, MaxFiles: 65536, Hostname: "leveret"}
	k.core = &coreFile{m}
	k.leaveFIFO = k.detachFIFO
	k.detach = func(f *vfs.File) {
		k.files.Add(-1)
		object := f.Head.Object
		if f.Handle != 0 {
			m.Release(f.Handle)
		}
		if object == 0 || f.Inode.Data == nil {
			return
		}
		// Mappings may outlive the file: then its name stays.
		if atomic.LoadUint64(&f.Inode.Data.Head().References) > 1 {
			if k.nmapped.Add(1) > maxMapped {
				k.mapped.Clear()
				k.nmapped.Store(1)
			}
			k.mapped.Store(object, f.Entry)
		} else {
			k.mapped.Delete(object)
		}
	}
	space := func() (total, free int64) {
		var i abi.MemoryInfo
		m.Memory(&i)
		return int64(i.Total), int64(i.Free)
	}
	k.anonymous = &vfs.FileSystem{Space: space, Type: "anon_inodefs", Dev: 0xe, Magic: 0x09041934, Store: store}
	return k
}

// A Process is what services keep of a process.
type Process struct {
	PID    uint32
	Kernel *Kernel

	mu         sync.Mutex
	files      *Files
	fs         vfs.Caller            // cwd, root, umask, credentials; its fields change under mu
	limits     *[16][2]uint64        // core's, soft and hard
	findLimits func() *[16][2]uint64 // nil, or says where core has them
	// Exe is the program's entry.
	Exe *vfs.Entry
	// Comm is the name of the program, as it was started.
	Comm string
}

// NewProcess makes a process as root with an empty table, in "/".
func (k *Kernel) NewProcess(pid uint32) *Process {
	p := &Process{PID: pid, Kernel: k}
	p.files = k.NewFiles()
	p.fs = vfs.Caller{PID: pid, Cred: new(vfs.Cred), Umask: 0o022, Root: k.NS.Root(), Cwd: k.NS.Root(), Process: p}
	p.limits = &defaultLimits
	k.processes.Store(pid, p)
	return p
}

// ByPID finds a process, or nil.
func (k *Kernel) ByPID(pid uint32) *Process {
	p, _ := k.processes.Load(pid)
	q, _ := p.(*Process)
	return q
}

// defaultLimits hold until core has the process.
var defaultLimits = func() (l [16][2]uint64) {
	for i := range l {
		l[i] = [2]uint64{^uint64(0), ^uint64(0)}
	}
	l[unix.RLIMIT_NOFILE] = [2]uint64{1024, 4096}
	return l
}()

// FindLimits says how to find the process's resource limits, which core
// changes. It is called once, by the first call that needs one: a process may
// run before whoever started it goes on.
func (p *Process) FindLimits(find func() *[16][2]uint64) {
	p.findLimits = sync.OnceValue(find)
}

func (p *Process) limit(n int) uint64 {
	l := p.limits
	if p.findLimits != nil {
		if found := p.findLimits(); found != nil {
			l = found
		}
	}
	return atomic.LoadUint64(&l[n][0])
}

// openFiles and fileSize are RLIMIT_NOFILE and RLIMIT_FSIZE.
func (p *Process) openFiles() uint64 { return p.limit(unix.RLIMIT_NOFILE) }
func (p *Process) fileSize() uint64  { return p.limit(unix.RLIMIT_FSIZE) }

// Exit releases what a process held.
func (k *Kernel) Exit(pid uint32) {
	if p := k.ByPID(pid); p != nil {
		k.processes.Delete(pid)
		p.files.CloseAll(false, p)
		k.Machine.ReleaseTable(p.files.Handle)
	}
}

// Files is the descriptor table.
func (p *Process) Files() *Files { return p.files }

// Caller copies what path walks need, for thread tid.
func (p *Process) Caller(c *vfs.Caller, tid uint32) {
	p.mu.Lock()
	*c = p.fs
	p.mu.Unlock()
	c.TID = tid
}

// Update changes the working directory, root, umask or credentials.
func (p *Process) Update(f func(*vfs.Caller)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.fs)
}

// A Call is a handler's state for the request that it serves.
type Call struct {
	*abi.Request
	K    *Kernel
	P    *Process
	Mem  usermem.Memory
	who  vfs.Caller
	walk vfs.Walk
	to   vfs.Walk
	vec  usermem.Vector
	vec2 usermem.Vector
	path [usermem.PathMax]byte
	pth2 [usermem.PathMax]byte
	buf  [64 << 10]byte
}

// A Func serves one system call.
type Func func(*Call) int64

// Serve runs the function of the request's number and stores its result.
// ok is false when there is none. waits: the request is to be parked.
func (c *Call) Serve(r *abi.Request, p *Process) (waits, ok bool) {
	c.Request, c.P = r, p
	if r.AX >= uint64(len(Table)) || Table[r.AX] == nil {
		r.Result = -int64(unix.ENOSYS)
		return false, false
	}
	r.WaitObject, r.WaitBits, r.Deadline, r.Cancelled = 0, 0, 0, 0
	p.Caller(&c.who, r.TID)
	r.Result = Table[r.AX](c)
	return r.Result == waiting, true
}

// waiting is a result that no call has.
const waiting = -1 << 62

// wait parks the request until an object has bits, or until a time of the
// monotonic clock in ns (0: for ever).
func (c *Call) wait(object uint64, bits uint32, deadline int64) int64 {
	c.WaitObject, c.WaitBits, c.Deadline = object, bits, deadline
	return waiting
}

// again is after how long a call looks again that waits for an object without
// a handle, in ns.
const again = 2_000_000

// park waits until a file is ready for reading or writing.
func (c *Call) park(f *vfs.File, p vfs.Pollable, write bool) int64 {
	h, bits := p.Ready(f, write)
	if h == 0 {
		return c.wait(0, 0, c.K.Machine.Monotonic()+again)
	}
	return c.wait(h, bits, 0)
}

func fail(e Errno) int64 { return -int64(e) }

func result(n int64, e Errno) int64 {
	if e != 0 {
		return -int64(e)
	}
	return n
}

// file returns the file of a descriptor with a reference: EBADF, also for one
// of O_PATH unless path is set.
func (c *Call) file(fd uint64, path bool) (*vfs.File, Errno) {
	f := c.P.files.Get(uint64(uint32(fd)))
	if f == nil {
		return nil, unix.EBADF
	}
	if !path && f.IsPath() {
		f.Close()
		return nil, unix.EBADF
	}
	return f, 0
}

// at returns where a relative path begins: the directory of a descriptor or
// nil for the working directory. done releases it.
func (c *Call) at(fd uint64, path []byte) (e *vfs.Entry, errno Errno) {
	if int32(fd) == unix.AT_FDCWD || len(path) > 0 && path[0] == '/' {
		return nil, 0
	}
	f, errno := c.file(fd, true)
	if errno != 0 {
		return nil, errno
	}
	defer f.Close()
	return f.Entry, 0
}

// name copies a path argument.
func (c *Call) name(addr uint64) ([]byte, Errno) {
	return usermem.String(c.Mem, c.path[:], addr, unix.ENAMETOOLONG)
}

// name2 copies a second one.
func (c *Call) name2(addr uint64) ([]byte, Errno) {
	return usermem.String(c.Mem, c.pth2[:], addr, unix.ENAMETOOLONG)
}

// lookup resolves a path argument; with AT_EMPTY_PATH in flags an empty path
// is the descriptor's own file.
func (c *Call) lookup(dirfd, addr uint64, how int, flags uint32) (*vfs.Entry, Errno) {
	if flags&unix.AT_EMPTY_PATH != 0 && addr == 0 {
		return c.self(dirfd)
	}
	path, e := c.name(addr)
	if e != 0 {
		return nil, e
	}
	if len(path) == 0 && flags&unix.AT_EMPTY_PATH != 0 {
		return c.self(dirfd)
	}
	dir, e := c.at(dirfd, path)
	if e != 0 {
		// An empty path is ENOENT whatever the descriptor.
		if len(path) == 0 {
			return nil, unix.ENOENT
		}
		return nil, e
	}
	return c.walk.Lookup(c.K.NS, &c.who, dir, path, how)
}

func (c *Call) self(fd uint64) (*vfs.Entry, Errno) {
	if int32(fd) == unix.AT_FDCWD {
		return c.who.Cwd, 0
	}
	f, e := c.file(fd, true)
	if e != 0 {
		return nil, e
	}
	defer f.Close()
	return f.Entry, 0
}

// closeFile gives up a descriptor's reference, and the POSIX locks that the
// process has on the file (close(2) drops them all).
func (k *Kernel) closeFile(p *Process, t *Files, f *vfs.File) {
	if f.Inode.DropLocks(t) {
		k.unlocked()
	}
	f.Close()
}

func (k *Kernel) unlocked() {
	if k.NS.Unlocked != nil {
		k.NS.Unlocked()
	}
}
