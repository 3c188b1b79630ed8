//go:build amd64

package main

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/vdso"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// In vdso_amd64.s.
func vdsoCode() (begin, gettimeofday, time, getcpu, getres, end uint64)

// vdsoData is what the code of the vDSO reads. Nothing of it changes: time is
// never set.
type vdsoData struct {
	tscBase, tscMul, realtimeBase, hasRDTSCP uint64
}

// vdsoObject holds the data page and the vDSO, as programs map them.
var vdsoObject *object.Object

// initVDSO builds both pages, once time is known.
func initVDSO() {
	pa := memory.Alloc(1)
	o := mem.Objects.Get()
	if pa == 0 || o == nil {
		die("no memory")
	}
	phys.ZeroPage(pa)
	phys.ZeroPage(pa + pageSize)
	d := (*vdsoData)(phys.Pointer(pa))
	d.tscBase, d.tscMul, d.realtimeBase = tscBase, tscMul, realtimeBase
	if hasRDTSCP() {
		d.hasRDTSCP = 1
	}
	begin, day, time, cpu, res, end := vdsoCode()
	offsets := [vdso.Functions]uint64{0, day - begin, time - begin, cpu - begin, res - begin}
	if end <= begin || end-begin > vdso.MaxCode {
		die("the vDSO does not fit")
	}
	vdso.Build(phys.Pointer(pa+pageSize), ptr(begin), int(end-begin), &offsets)
	o.InitInPlace(&memory, pa, 2*pageSize)
	vdsoObject = o
}

// mapVDSO maps both pages into a program's space and returns the vDSO's
// address, 0 when there is no room.
func mapVDSO(c *CPU, as *AddressSpace) uint64 {
	r := space.Request{Length: 2 * pageSize, Prot: unix.PROT_READ | unix.PROT_EXEC, Flags: unix.MAP_PRIVATE, Object: vdsoObject, Readable: true}
	at, errno := as.Map(&c.mm, &r)
	if errno != 0 {
		return 0
	}
	r.Addr, r.Length, r.Prot, r.Flags = at, pageSize, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_FIXED
	if _, errno = as.Map(&c.mm, &r); errno != 0 {
		return 0
	}
	return at + pageSize
}

func hasRDTSCP() bool {
	_, _, _, dx := x86.Cpuid(0x80000001, 0)
	return dx&(1<<27) != 0
}

const msrTSCAux = 0xc0000103

// initCPUNumber lets programs read the processor's number by RDTSCP.
func initCPUNumber(c *CPU) {
	if hasRDTSCP() {
		x86.Wrmsr(msrTSCAux, c.number)
	}
}
