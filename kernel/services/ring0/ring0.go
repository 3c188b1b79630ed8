//go:build amd64

// Package ring0 is where services touch what Go does not own: memory of the
// calling program, core's memory by the direct map, and core itself by
// hypercalls. It holds all their unsafe code and assembly but device drivers'.
package ring0

import (
	"syscall"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
)

func ucopy(dst, src, n uintptr) (ok uint64)

//lint:ignore U1000 core jumps to it
func ucopyPad(dst, src, n uintptr) (ok uint64)
func ucopyRange() (lo, hi, pad uintptr)
func receive(action uint64) (request uint64)

// receiveEntry is where receive calls core.
//
//lint:ignore U1000 the assembly reads it
var receiveEntry uint64

// Setup tells core where the copy is that may fault, and asks where Receive
// enters. It is called once, before the first handler starts.
func Setup() {
	lo, hi, pad := ucopyRange()
	Hyper(abi.HyperFixupRange, uint64(lo), uint64(hi), uint64(pad))
	entry, _ := Hyper(abi.HyperReceiveEntry)
	receiveEntry = uint64(entry)
}

// Receive ends the request that the handler holds, as action says, and waits
// for the next: its address, or 0 when the runtime wants to preempt the
// thread. The thread keeps its P meanwhile.
func Receive(action uint64) uint64 { return receive(action) }

// ReceiveIdle is Receive in a way that lets the runtime have the P.
func ReceiveIdle(action uint64) uint64 {
	r, _, _ := syscall.Syscall(abi.HyperReceive, uintptr(action), 0, 0)
	return uint64(r)
}

// Hyper makes a hypercall of up to six arguments.
func Hyper(nr uintptr, args ...uint64) (ax int64, dx uint64) {
	var a [6]uintptr
	for i, v := range args {
		a[i] = uintptr(v)
	}
	r1, r2, e := syscall.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return -int64(e), 0
	}
	return int64(r1), uint64(r2)
}

func pointer(addr uint64) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), int(addr)) }

// View is n bytes of core's memory at a direct-map address.
func View(addr, n uint64) []byte { return unsafe.Slice((*byte)(pointer(addr)), n) }

// Request, Object and File are what lies at an address that core gave.
func Request(addr uint64) *abi.Request { return (*abi.Request)(pointer(addr)) }

// Object is the head of a memory object.
func Object(handle uint64) *abi.ObjectHead { return (*abi.ObjectHead)(pointer(handle)) }

// File is the head of an open file.
func File(handle uint64) *abi.FileHead { return (*abi.FileHead)(pointer(handle)) }

// Limits are a process's resource limits.
func Limits(addr uint64) *[16][2]uint64 { return (*[16][2]uint64)(pointer(addr)) }

// Address is where a buffer lies. The caller keeps it alive for as long as
// core uses it.
func Address(p []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) }

// Fill has core fill v, one of abi's structs, by a hypercall whose last two
// arguments are address and size.
func Fill[T any](nr uintptr, v *T, args ...uint64) int64 {
	args = append(args, uint64(uintptr(unsafe.Pointer(v))), uint64(unsafe.Sizeof(*v)))
	ax, _ := Hyper(nr, args...)
	return ax
}

// List has core fill an array of them, as Fill.
func List[T any](nr uintptr, v []T, args ...uint64) int64 {
	args = append(args, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(v)))), uint64(unsafe.Sizeof(v[0]))*uint64(len(v)))
	ax, _ := Hyper(nr, args...)
	return ax
}

// User is the memory of the program whose request the calling handler holds.
type User struct{}

// In implements usermem.Memory.
func (User) In(dst []byte, addr uint64) int {
	if !usermem.Valid(addr, uint64(len(dst))) {
		return 0
	}
	return copyPages(Address(dst), addr, uint64(len(dst)), addr)
}

// Out implements usermem.Memory.
func (User) Out(addr uint64, src []byte) int {
	if !usermem.Valid(addr, uint64(len(src))) {
		return 0
	}
	return copyPages(addr, Address(src), uint64(len(src)), addr)
}

// copyPages copies, and after a fault finds out by pages of the user's side
// how far it comes.
func copyPages(dst, src, n, user uint64) int {
	if n == 0 {
		return 0
	}
	if ucopy(uintptr(dst), uintptr(src), uintptr(n)) != 0 {
		return int(n)
	}
	var done uint64
	for done < n {
		k := min(4096-(user+done)&4095, n-done)
		if ucopy(uintptr(dst+done), uintptr(src+done), uintptr(k)) == 0 {
			break
		}
		done += k
	}
	return int(done)
}
