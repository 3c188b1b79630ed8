package calls

import (
	"crypto/rand"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// host stands in for core: it has no pipes and its like.
type host struct{}

func (host) NewTable() uint64                       { return 0 }
func (host) ReleaseTable(uint64)                    {}
func (host) Install(uint64, int, *vfs.File) Errno   { return 0 }
func (host) Remove(uint64, int)                     {}
func (host) Release(uint64)                         {}
func (host) Pipe(uint32) (r, w Object, e Errno)     { return r, w, unix.ENOMEM }
func (host) PipeEnd(uint64, uint32) (Object, Errno) { return Object{}, unix.ENOMEM }
func (host) Eventfd(uint64, uint32) (Object, Errno) { return Object{}, unix.ENOMEM }
func (host) Timerfd(int, uint32) (Object, Errno)    { return Object{}, unix.ENOMEM }
func (host) Epoll(uint32) (Object, Errno)           { return Object{}, unix.ENOMEM }
func (host) Control(uint64, uint64, uint64) (int64, Errno) {
	return 0, unix.EINVAL
}
func (host) Transfer(uint64, bool, uint64, int) (int, Errno) { return 0, unix.EAGAIN }
func (host) TransferBytes(uint64, bool, []byte) (int, Errno) { return 0, unix.EAGAIN }
func (host) Process(uint32, *abi.ProcessInfo) Errno          { return unix.ESRCH }
func (host) Credentials(uint32, *abi.Credentials)            {}
func (host) Memory(m *abi.MemoryInfo)                        { m.Total, m.Free = 1<<30, 1<<29 }
func (host) Random(p []byte)                                 { rand.Read(p) }
func (host) Monotonic() int64                                { return time.Now().UnixNano() }

// self is this process's own memory, where a bad address is an error.
type self struct{}

func (self) In(dst []byte, addr uint64) int {
	if len(dst) == 0 {
		return 0
	}
	n, err := unix.ProcessVMReadv(unix.Getpid(), []unix.Iovec{{Base: &dst[0], Len: uint64(len(dst))}}, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(dst)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

func (self) Out(addr uint64, src []byte) int {
	if len(src) == 0 {
		return 0
	}
	n, err := unix.ProcessVMWritev(unix.Getpid(), []unix.Iovec{{Base: &src[0], Len: uint64(len(src))}}, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(src)}}, 0)
	if err != nil {
		return 0
	}
	return n
}

// newHost makes a kernel with an empty tmpfs and one process.
func newHost() (*Kernel, *Process, *Call) {
	store := new(object.Heap)
	now := func() int64 { return time.Now().UnixNano() }
	fs := vfs.NewFileSystem("tmpfs", 0x15, unix.TMPFS_MAGIC, store, now())
	fs.MaxInodes = 1 << 20
	k := NewKernel(vfs.NewNamespace(fs, now), host{}, store)
	p := k.NewProcess(1)
	return k, p, &Call{K: k, Mem: self{}}
}
