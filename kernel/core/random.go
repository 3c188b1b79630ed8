//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/random"
	"github.com/leveret-os/leveret/kernel/core/x86"
	"golang.org/x/sys/unix"
)

// generator gives all random bytes: getrandom(2), /dev/random, AT_RANDOM.
var generator random.Generator

// hasRandom says that the processor has a source of its own.
var hasRandom bool

// initRandom seeds the generator from the processor, where it can, and from
// clocks in any case.
func initRandom() {
	_, _, cx, _ := x86.Cpuid(1, 0)
	hasRandom = cx&(1<<30) != 0
	generator.Add(realtimeBase)
	for range 4 {
		generator.Add(x86.Rdtsc())
		addEntropy()
	}
	if !hasRandom {
		puts("core: this processor has no RDRAND: random numbers are no secret\n")
	}
}

// addEntropy mixes 64 bits of the processor's own in. RDRAND may have none for
// a moment (SDM vol. 1, 7.3.17.1: ten tries).
func addEntropy() {
	for range 10 {
		if !hasRandom {
			return
		}
		if v, ok := x86.Rdrand(); ok {
			generator.Add(v)
			return
		}
	}
}

// randomBytes fills n bytes at p.
func randomBytes(p unsafe.Pointer, n uint64) {
	addEntropy()
	generator.Add(x86.Rdtsc())
	generator.Fill(p, n)
}

// randomChunk is how many bytes core gives in one call.
const randomChunk = 256

var randomBuffer [randomChunk]byte

// sysGetrandom: getrandom(2). Core answers what programs mostly ask for, and
// all of services, which go on with the rest; services serve what is larger.
func sysGetrandom(c *CPU, t *Thread) {
	n := t.SI
	if t.ring0() {
		n = min(n, randomChunk)
	} else if n > randomChunk || uint32(t.DX)&^(unix.GRND_NONBLOCK|unix.GRND_RANDOM) != 0 {
		forward(c, t)
		return
	}
	randomBytes(unsafe.Pointer(&randomBuffer), n)
	ok := copyOut(c, t.DI, unsafe.Pointer(&randomBuffer), n)
	for i := range n {
		randomBuffer[i] = 0
	}
	switch {
	case ok:
		t.AX = n
	case t.ring0():
		t.AX = eFAULT
	default:
		forward(c, t) // a part may be writable
	}
}
