// Package frametest gives tests on the host a piece of memory that stands in
// for the RAM of a machine.
package frametest

import (
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/frames"
	"github.com/leveret-os/leveret/kernel/core/phys"
)

// RAM points the direct map at size bytes of zeroed memory, physical addresses
// 0 to size, and gives all but the first MiB to a new allocator. The test's end
// undoes it. Tests that use it cannot run in parallel.
func RAM(t testing.TB, size int) *frames.Allocator {
	t.Helper()
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	old := phys.Base
	phys.Base = reflect.ValueOf(m).Pointer()
	t.Cleanup(func() { phys.Base = old; _ = unix.Munmap(m) })
	a := new(frames.Allocator)
	if !a.Init(&[frames.MaxRegions]frames.Region{{Start: 1 << 20, End: uint64(size)}}, 1) {
		t.Fatalf("no room for the metadata of %d bytes", size)
	}
	return a
}

// Check fails the test when the allocator is not sound.
func Check(t testing.TB, a *frames.Allocator) {
	t.Helper()
	var s frames.Shape
	if f, pa := a.Check(&s); f != frames.Sound {
		t.Fatalf("frame allocator: fault %d at %#x", f, pa)
	}
}
