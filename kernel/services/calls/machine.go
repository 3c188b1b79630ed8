package calls

import (
	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// A Machine is what the calls need of core. Package hyper makes it of
// hypercalls; on the host, Host stands in.
type Machine interface {
	// NewTable makes a descriptor table of core, ReleaseTable gives it up.
	NewTable() uint64
	ReleaseTable(table uint64)
	// Install tells core what a descriptor refers to, and gives the file its
	// half in core when it has none yet. ENOMEM.
	Install(table uint64, fd int, f *vfs.File) Errno
	Remove(table uint64, fd int)
	// Pipe, Eventfd, Timerfd and Epoll make objects that core serves.
	Pipe(flags uint32) (r, w Object, e Errno)
	// PipeEnd makes another end of the pipe that a file is an end of, open
	// for what the access mode in flags says.
	PipeEnd(handle uint64, flags uint32) (Object, Errno)
	Eventfd(count uint64, flags uint32) (Object, Errno)
	Timerfd(clock int, flags uint32) (Object, Errno)
	Epoll(flags uint32) (Object, Errno)
	// Control is fcntl or ioctl on such an object.
	Control(handle, command, arg uint64) (int64, Errno)
	// Transfer reads (or writes) such an object by user memory, TransferBytes
	// by services' own: EAGAIN when it would block.
	Transfer(handle uint64, write bool, addr uint64, n int) (int, Errno)
	TransferBytes(handle uint64, write bool, p []byte) (int, Errno)
	// Release gives up services' reference of a file that Install or one of
	// the makers above made.
	Release(handle uint64)

	Process(pid uint32, into *abi.ProcessInfo) Errno
	// Credentials tells core the ids of a process.
	Credentials(pid uint32, ids *abi.Credentials)
	Memory(into *abi.MemoryInfo)
	Random(p []byte)
	Monotonic() int64
}

// An Object is core's half of an open file.
type Object struct {
	Handle uint64
	Head   *abi.FileHead
}
