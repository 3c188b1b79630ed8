//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/vma"
)

// MemoryObject is the contents of a file, or shared memory.
type MemoryObject = object.Object

// objectAt returns the object that a handle of services means.
func objectAt(handle uint64) *MemoryObject { return (*MemoryObject)(ptr(handle)) }

// objectRead copies n bytes at off of o to addr of the current thread's memory,
// and returns how many it could: fewer at the end of the object, at most
// abi.MaxStep. EFAULT when the first byte faults.
func objectRead(c *CPU, o *MemoryObject, off, addr, n uint64) (done uint64, errno unix.Errno) {
	if off >= o.Size {
		return 0, 0
	}
	n = min(n, o.Size-off, abi.MaxStep)
	as := asFor(c.cur, addr)
	if as == nil && n != 0 {
		return 0, unix.EFAULT
	}
	for done < n {
		pa, part := as.Span(&c.mm, addr+done, min(n-done, 4096-(off+done)&4095), true)
		if part == 0 {
			break
		}
		to, index := phys.Pointer(pa), (off+done)>>12
		from := o.Peek(index)
		if from == 0 {
			if o.Hole(index) {
				phys.Clear(to, part)
				done += part
				continue
			}
			if from = o.Page(index); from == 0 {
				return done, unix.ENOMEM
			}
		}
		phys.Copy(to, phys.Pointer(from+(off+done)&4095), part)
		done += part
	}
	if done == 0 && n != 0 {
		return 0, unix.EFAULT
	}
	return done, 0
}

// objectWrite copies n bytes from addr of the current thread's memory to o at
// off, which may make it larger, and returns how many it could, at most
// abi.MaxStep. EFAULT when the first byte faults; ENOSPC without a frame for
// it; EFBIG; EPERM where o is sealed.
func objectWrite(c *CPU, o *MemoryObject, off, addr, n uint64) (done uint64, errno unix.Errno) {
	if n = min(n, abi.MaxStep); n == 0 {
		return 0, 0
	}
	if off >= object.MaxSize || n > object.MaxSize-off {
		return 0, unix.EFBIG
	}
	if o.Seals != 0 && (o.Seals&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0 || o.Seals&unix.F_SEAL_GROW != 0 && off+n > o.Size) {
		return 0, unix.EPERM
	}
	as := asFor(c.cur, addr)
	if as == nil {
		return 0, unix.EFAULT
	}
	errno = unix.EFAULT
	for done < n {
		pa, part := as.Span(&c.mm, addr+done, min(n-done, 4096-(off+done)&4095), false)
		if part == 0 {
			break
		}
		to := o.Page((off + done) >> 12)
		if to == 0 {
			errno = unix.ENOSPC
			break
		}
		phys.Copy(phys.Pointer(to+(off+done)&4095), phys.Pointer(pa), part)
		done += part
	}
	if done == 0 {
		return 0, errno
	}
	if off+done > o.Size {
		o.Size = off + done
	}
	touchObject(o)
	return done, 0
}

// touchObject sets the times of an object that was written.
func touchObject(o *MemoryObject) {
	now := int64(realtimeBase + nowNS())
	o.Mtime, o.Ctime = now, now
}

// memoryCall serves services' calls that concern memory: on memory objects, and
// HyperMemoryInfo and HyperHugePages.
func memoryCall(c *CPU, t *Thread, n uint64) {
	f := regs(t)
	mem.Reap()
	switch n {
	case abi.HyperObjectCreate:
		f.AX = objectCreate(0, 0, f.DI)
	case abi.HyperObjectInPlace:
		f.AX = objectCreate(f.DI, f.SI, f.DX)
	case abi.HyperObjectRetain:
		objectAt(f.DI).References++
		f.AX = 0
	case abi.HyperObjectRelease:
		mem.ReleaseObject(objectAt(f.DI))
		f.AX = 0
	case abi.HyperObjectRead:
		f.AX = result(objectRead(c, objectAt(f.DI), f.SI, f.DX, f.R10))
	case abi.HyperObjectWrite:
		f.AX = result(objectWrite(c, objectAt(f.DI), f.SI, f.DX, f.R10))
	case abi.HyperObjectResize:
		f.AX = step(objectResize(c, objectAt(f.DI), f.SI))
	case abi.HyperObjectPunch:
		f.AX = step(objectPunch(c, objectAt(f.DI), f.SI, f.DX))
	case abi.HyperObjectAllocate:
		f.AX = step(objectAllocate(objectAt(f.DI), f.SI, f.DX))
	case abi.HyperObjectSeek:
		f.AX = result(objectSeek(objectAt(f.DI), f.SI, f.DX))
	case abi.HyperObjectCopy:
		f.AX = result(objectCopy(objectAt(f.DI), f.SI, objectAt(f.DX), f.R10, f.R8))
	case abi.HyperObjectPin:
		f.AX = failure(unix.ENOSPC)
		if pa := objectAt(f.DI).Page(f.SI); pa != 0 {
			f.AX = directMap + pa
		}
	case abi.HyperMemoryInfo:
		var info abi.MemoryInfo
		memoryInfo(&info)
		f.AX = fill(c, f.DI, f.SI, unsafe.Pointer(&info), uint64(unsafe.Sizeof(info)))
	case abi.HyperHugePages:
		f.AX = failure(unix.EINVAL)
		if f.DI <= space.HugeAlways {
			mem.HugeMode, f.AX = f.DI, 0
		}
	default:
		f.AX = failure(unix.ENOSYS)
	}
}

// fill copies the first n of size bytes at p to addr of the current thread's.
func fill(c *CPU, addr, n uint64, p unsafe.Pointer, size uint64) uint64 {
	if !copyOut(c, addr, p, min(n, size)) {
		return failure(unix.EFAULT)
	}
	return 0
}

// mapList stores up to n of as's mappings that end above from at addr, an
// abi.Map each, and returns how many.
func mapList(c *CPU, as *AddressSpace, from, addr, n uint64) uint64 {
	var m abi.Map
	const size = uint64(unsafe.Sizeof(m))
	n = min(n, space.Step)
	for i := uint64(0); i < n; i++ {
		if !mapOf(as, from, &m) {
			return i
		}
		if !copyOut(c, addr+i*size, unsafe.Pointer(&m), size) {
			return failure(unix.EFAULT)
		}
		from = m.End
	}
	return n
}

// result is a call's result in AX.
func result(v uint64, errno unix.Errno) uint64 {
	if errno != 0 {
		return failure(errno)
	}
	return v
}

// step is the result of a call that services repeat while it is EAGAIN.
func step(errno unix.Errno) uint64 {
	if errno == space.Again {
		errno = unix.EAGAIN
	} else if errno == unix.ENOMEM {
		errno = unix.ENOSPC
	}
	return result(0, errno)
}

// objectCreate returns the handle of a new object, over the n bytes at a
// direct-map address unless that is 0.
func objectCreate(at, n, ino uint64) uint64 {
	o := mem.NewObject()
	if o == nil {
		return failure(unix.ENOMEM)
	}
	if at != 0 {
		o.InitInPlace(&memory, at-directMap, n)
	}
	o.Ino = ino
	return addressOf(o)
}

// objectResize is mem.Resize with what seals forbid.
func objectResize(c *CPU, o *MemoryObject, size uint64) unix.Errno {
	if o.Seals&unix.F_SEAL_SHRINK != 0 && size < o.Size || o.Seals&unix.F_SEAL_GROW != 0 && size > o.Size {
		return unix.EPERM
	}
	return mem.Resize(&c.mm, o, size)
}

// objectPunch makes a hole of the n bytes at off.
func objectPunch(c *CPU, o *MemoryObject, off, n uint64) unix.Errno {
	if o.Seals&unix.F_SEAL_WRITE != 0 {
		return unix.EPERM
	}
	end := min(off+n, o.Size)
	if off >= end || off+n < off {
		return 0
	}
	first, last := (off+4095)>>12, end>>12
	if off&4095 != 0 || first > last {
		if errno := objectClear(o, off, min(end, first<<12)); errno != 0 {
			return errno
		}
	}
	if end&4095 != 0 && first <= last {
		if errno := objectClear(o, last<<12, end); errno != 0 {
			return errno
		}
	}
	if first >= last {
		return 0
	}
	for i := first; i < last; i++ {
		pa, _ := o.InPlace(i)
		if pa == 0 {
			break
		}
		phys.ZeroPage(pa)
	}
	errno := mem.Punch(&c.mm, o, first, last)
	if errno == 0 {
		touchObject(o)
	}
	return errno
}

// objectClear clears the bytes from off to end, which lie in one page.
func objectClear(o *MemoryObject, off, end uint64) unix.Errno {
	if off >= end || o.Hole(off>>12) {
		return 0
	}
	pa := o.Page(off >> 12)
	if pa == 0 {
		return unix.ENOMEM
	}
	phys.Clear(phys.Pointer(pa+off&4095), end-off)
	return 0
}

// objectAllocate gives the pages of the n bytes at off frames, a step's worth
// of those that have none.
func objectAllocate(o *MemoryObject, off, n uint64) unix.Errno {
	if off+n < off || off+n > object.MaxSize {
		return unix.EFBIG
	}
	budget := space.Step
	for i := off >> 12; i < (off+n+4095)>>12; i++ {
		if _, pages := o.InPlace(i); pages != 0 {
			i += pages - 1
			continue
		}
		if o.Peek(i) != 0 {
			continue
		}
		if budget == 0 {
			return space.Again
		}
		budget--
		if o.Page(i) == 0 {
			return unix.ENOSPC
		}
	}
	return 0
}

// objectSeek finds the next data or hole at or after off.
func objectSeek(o *MemoryObject, off, whence uint64) (uint64, unix.Errno) {
	if off >= o.Size {
		return 0, unix.ENXIO
	}
	if whence == unix.SEEK_DATA {
		i, ok := o.Next(off >> 12)
		if at := max(off, i<<12); ok && at < o.Size {
			return at, 0
		}
		return 0, unix.ENXIO
	}
	for i := off >> 12; ; i++ {
		if i<<12 >= o.Size {
			return o.Size, 0
		}
		if _, pages := o.InPlace(i); pages != 0 {
			i += pages - 1
		} else if o.Hole(i) {
			return max(off, i<<12), 0
		}
	}
}

// objectCopy copies n bytes, at most abi.MaxStep, from one object to another.
func objectCopy(to *MemoryObject, toOff uint64, from *MemoryObject, fromOff, n uint64) (done uint64, errno unix.Errno) {
	if fromOff >= from.Size {
		return 0, 0
	}
	n = min(n, from.Size-fromOff, abi.MaxStep)
	if toOff >= object.MaxSize || n > object.MaxSize-toOff {
		return 0, unix.EFBIG
	}
	for done < n {
		part := min(n-done, 4096-(fromOff+done)&4095, 4096-(toOff+done)&4095)
		index := (toOff + done) >> 12
		hole := from.Hole((fromOff + done) >> 12)
		if !hole || !to.Hole(index) {
			dst := to.Page(index)
			if dst == 0 {
				break
			}
			p := phys.Pointer(dst + (toOff+done)&4095)
			if hole {
				phys.Clear(p, part)
			} else {
				src := from.Page((fromOff + done) >> 12)
				if src == 0 {
					break
				}
				phys.Copy(p, phys.Pointer(src+(fromOff+done)&4095), part)
			}
		}
		done += part
	}
	if done == 0 && n != 0 {
		return 0, unix.ENOSPC
	}
	if done != 0 {
		to.Size = max(to.Size, toOff+done)
		touchObject(to)
	}
	return done, 0
}

// memoryInfo fills what /proc/meminfo tells.
func memoryInfo(into *abi.MemoryInfo) {
	into.Total = memory.Total() << 12
	into.Free = memory.Free() << 12
	into.Anonymous = mem.Anonymous << 12
	into.Huge = mem.HugeAnonymous << 12
	into.Services = servicesSpace.Usage().Resident
}

// mapOf describes the first mapping of as that ends above from; false if there
// is none.
func mapOf(as *AddressSpace, from uint64, into *abi.Map) bool {
	a := as.Next(from)
	if a == nil {
		return false
	}
	into.Start, into.End, into.Offset = a.Start, a.End, a.Offset
	into.Prot, into.Flags, into.Kind = a.Prot, mapFlags(a), mapKind(a)
	into.Object, into.Ino = 0, 0
	if o := a.Object; o != nil {
		into.Object, into.Ino = uint64(uintptr(unsafe.Pointer(o))), o.Ino
	}
	into.Resident = as.Resident(a, 512)
	return true
}

// mapFlags and mapKind say what an area is in the terms of package abi.
func mapFlags(a *vma.Area) uint32 {
	flags := uint32(0)
	if a.Flags&vma.Shared != 0 {
		flags |= unix.MAP_SHARED
	}
	if a.Flags&vma.GrowsDown != 0 {
		flags |= unix.MAP_GROWSDOWN
	}
	if a.Flags&vma.Locked != 0 {
		flags |= unix.MAP_LOCKED
	}
	return flags
}

func mapKind(a *vma.Area) uint32 {
	switch {
	case a.Flags&vma.Stack != 0:
		return abi.MapStack
	case a.Flags&vma.Heap != 0:
		return abi.MapHeap
	case a.Object != nil && a.Object == vdsoObject && a.Offset == 0:
		return abi.MapVvar
	case a.Object != nil && a.Object == vdsoObject:
		return abi.MapVDSO
	}
	return abi.MapPlain
}
