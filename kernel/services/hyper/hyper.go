//go:build amd64

// Package hyper is core as services call it: the machine, memory objects,
// open files and the console, each by the hypercalls of package abi.
package hyper

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = calls.Errno

// errno splits what a hypercall returned.
func errno(ax int64) (uint64, Errno) {
	if ax < 0 && ax > -4096 {
		return 0, Errno(-ax)
	}
	return uint64(ax), 0
}

func call(nr uintptr, args ...uint64) (uint64, Errno) {
	ax, _ := ring0.Hyper(nr, args...)
	return errno(ax)
}

// A Machine implements calls.Machine.
type Machine struct {
	// Files is false for a core that keeps no descriptors: every call is
	// forwarded then.
	Files bool
}

// NewTable implements calls.Machine.
func (m *Machine) NewTable() uint64 {
	if !m.Files {
		return 0
	}
	t, _ := call(abi.HyperFilesCreate)
	return t
}

// ReleaseTable implements calls.Machine.
func (m *Machine) ReleaseTable(table uint64) {
	if m.Files {
		call(abi.HyperFilesRelease, table)
	}
}

// Install implements calls.Machine.
func (m *Machine) Install(table uint64, fd int, f *vfs.File) Errno {
	if !m.Files {
		return 0
	}
	if f.Handle == 0 {
		h := f.Head
		object := h.Object
		kind := uint64(h.Kind)
		if p, ok := f.Ops.(vfs.Pollable); ok {
			object, _ = p.Ready(f, false)
			kind = abi.KindReady
			if object == 0 {
				kind = abi.KindOther
			}
		}
		handle, e := call(abi.HyperFileCreate, kind, object, uint64(f.Flags()), f.Inode.Ino)
		if e != 0 {
			return e
		}
		head := ring0.File(handle)
		head.Offset = h.Offset
		f.Attach(head, handle)
	}
	_, e := call(abi.HyperDescriptorInstall, table, uint64(fd), f.Handle)
	return e
}

// Remove implements calls.Machine.
func (m *Machine) Remove(table uint64, fd int) {
	if m.Files {
		call(abi.HyperDescriptorRemove, table, uint64(fd))
	}
}

// Release implements calls.Machine.
func (m *Machine) Release(handle uint64) { call(abi.HyperFileRelease, handle) }

func object(ax int64) (calls.Object, Errno) {
	h, e := errno(ax)
	if e != 0 {
		return calls.Object{}, e
	}
	return calls.Object{Handle: h, Head: ring0.File(h)}, 0
}

// Pipe implements calls.Machine.
func (m *Machine) Pipe(flags uint32) (r, w calls.Object, e Errno) {
	ax, dx := ring0.Hyper(abi.HyperPipeCreate, uint64(flags))
	if r, e = object(ax); e == 0 {
		w, e = object(int64(dx))
	}
	return r, w, e
}

// PipeEnd implements calls.Machine.
func (m *Machine) PipeEnd(handle uint64, flags uint32) (calls.Object, Errno) {
	ax, _ := ring0.Hyper(abi.HyperPipeEnd, handle, uint64(flags))
	return object(ax)
}

// Eventfd implements calls.Machine.
func (m *Machine) Eventfd(count uint64, flags uint32) (calls.Object, Errno) {
	ax, _ := ring0.Hyper(abi.HyperEventfdCreate, count, uint64(flags))
	return object(ax)
}

// Timerfd implements calls.Machine.
func (m *Machine) Timerfd(clock int, flags uint32) (calls.Object, Errno) {
	ax, _ := ring0.Hyper(abi.HyperTimerfdCreate, uint64(clock), uint64(flags))
	return object(ax)
}

// Epoll implements calls.Machine.
func (m *Machine) Epoll(flags uint32) (calls.Object, Errno) {
	ax, _ := ring0.Hyper(abi.HyperEpollCreate, uint64(flags))
	return object(ax)
}

// Control implements calls.Machine.
func (m *Machine) Control(handle, command, arg uint64) (int64, Errno) {
	v, e := call(abi.HyperFileControl, handle, command, arg)
	return int64(v), e
}

func transferCall(write bool) uintptr {
	if write {
		return abi.HyperFileWrite
	}
	return abi.HyperFileRead
}

// Transfer implements calls.Machine.
func (m *Machine) Transfer(handle uint64, write bool, addr uint64, n int) (int, Errno) {
	got, e := call(transferCall(write), handle, addr, uint64(n), 0)
	return int(got), e
}

// TransferBytes implements calls.Machine.
func (m *Machine) TransferBytes(handle uint64, write bool, p []byte) (int, Errno) {
	got, e := call(transferCall(write), handle, ring0.Address(p), uint64(len(p)), 0)
	return int(got), e
}

// Process implements calls.Machine.
func (m *Machine) Process(pid uint32, into *abi.ProcessInfo) Errno {
	_, e := errno(ring0.Fill(abi.HyperProcessInfo, into, uint64(pid)))
	return e
}

// Credentials implements calls.Machine.
func (m *Machine) Credentials(pid uint32, ids *abi.Credentials) {
	ring0.Fill(abi.HyperCredentials, ids, uint64(pid))
}

// Thread reads what core knows of a thread.
func (m *Machine) Thread(tid uint32, into *abi.ThreadInfo) Errno {
	_, e := errno(ring0.Fill(abi.HyperThreadInfo, into, uint64(tid)))
	return e
}

// Threads lists thread ids of a process above after.
func (m *Machine) Threads(pid, after uint32, into []uint32) int {
	n, _ := errno(ring0.List(abi.HyperThreadList, into, uint64(pid), uint64(after)))
	return int(n)
}

// Maps lists mappings of a process that end above from.
func (m *Machine) Maps(pid uint32, from uint64, into []abi.Map) (int, Errno) {
	n, e := errno(ring0.List(abi.HyperMapList, into, uint64(pid), from))
	return int(n), e
}

// ReadProcess reads memory of a process.
func (m *Machine) ReadProcess(pid uint32, addr uint64, p []byte) int {
	n, _ := call(abi.HyperProcessRead, uint64(pid), addr, ring0.Address(p), uint64(len(p)))
	return int(n)
}

// Memory implements calls.Machine.
func (m *Machine) Memory(into *abi.MemoryInfo) { ring0.Fill(abi.HyperMemoryInfo, into) }

// Random implements calls.Machine: core has the generator.
func (m *Machine) Random(p []byte) {
	for len(p) > 0 {
		n, err := unix.Getrandom(p, 0)
		if n <= 0 {
			n = stopgap(p, err)
		}
		p = p[n:]
	}
}

var seed atomic.Uint64

// stopgap serves a core without a generator: it is no secret.
func stopgap(p []byte, _ error) int {
	x := seed.Add(0x9e3779b97f4a7c15) ^ uint64(time.Now().UnixNano())
	for i := range p {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		p[i] = byte(x)
	}
	return len(p)
}

var started = time.Now()

// Monotonic implements calls.Machine.
func (m *Machine) Monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) == nil {
		return t.Nano()
	}
	return int64(time.Since(started))
}

// Account is the text of a file below /proc/leveret.
func (m *Machine) Account(name string) []byte {
	which := map[string]uint64{"faults": abi.AccountFaults, "syscalls": abi.AccountSyscalls, "times": abi.AccountTimes, "memory": abi.AccountMemory, "all": abi.AccountAll}[name]
	buf := make([]byte, 16<<10)
	n, _ := call(abi.HyperAccount, which, ring0.Address(buf), uint64(len(buf)))
	return buf[:min(n, uint64(len(buf)))]
}

// SetHuge sets how anonymous memory gets 2 MiB pages.
func SetHuge(mode uint64) { call(abi.HyperHugePages, mode) }
