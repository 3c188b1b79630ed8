// Package random is core's generator of random bytes: ChaCha20 (RFC 8439) whose
// key is replaced after every use, so that what was given out cannot be found
// out later (fast key erasure; D. J. Bernstein, "Fast-key-erasure random-number
// generators", 2017).
//
// Nothing here allocates or locks; the caller serialises.
package random

import "unsafe"

// Generator makes random bytes once it is seeded. Its zero value gives bytes
// that everybody can compute.
type Generator struct {
	key   [8]uint32
	block [16]uint32
}

// Add mixes a word of entropy into the key.
func (g *Generator) Add(v uint64) {
	g.key[0] ^= uint32(v)
	g.key[1] ^= uint32(v >> 32)
	g.next(0)
	g.rekey()
}

// Fill writes n random bytes to p.
func (g *Generator) Fill(p unsafe.Pointer, n uint64) {
	for counter, done := uint32(1), uint64(0); done < n; counter++ {
		g.next(counter)
		for i := uint64(0); i < 64 && done < n; i++ {
			*(*uint8)(unsafe.Add(p, int(done))) = uint8(g.block[i>>2] >> (i & 3 * 8))
			done++
		}
	}
	g.next(0)
	g.rekey()
}

// rekey takes the key from the block, and clears the block.
func (g *Generator) rekey() {
	for i := range g.key {
		g.key[i] = g.block[i]
	}
	for i := range g.block {
		g.block[i] = 0
	}
}

// next makes the block of a counter, with a nonce of zeros.
func (g *Generator) next(counter uint32) {
	b := &g.block
	g.start(counter)
	for range 10 {
		quarter(&b[0], &b[4], &b[8], &b[12])
		quarter(&b[1], &b[5], &b[9], &b[13])
		quarter(&b[2], &b[6], &b[10], &b[14])
		quarter(&b[3], &b[7], &b[11], &b[15])
		quarter(&b[0], &b[5], &b[10], &b[15])
		quarter(&b[1], &b[6], &b[11], &b[12])
		quarter(&b[2], &b[7], &b[8], &b[13])
		quarter(&b[3], &b[4], &b[9], &b[14])
	}
	for i := range constants {
		b[i] += constants[i]
	}
	for i := range g.key {
		b[4+i] += g.key[i]
	}
	b[12] += counter
}

func (g *Generator) start(counter uint32) {
	for i := range constants {
		g.block[i] = constants[i] + 0 // not copy, which calls the runtime
	}
	for i := range g.key {
		g.block[4+i] = g.key[i]
	}
	g.block[12], g.block[13], g.block[14], g.block[15] = counter, 0, 0, 0
}

// constants are "expand 32-byte k".
var constants = [4]uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}

func quarter(a, b, c, d *uint32) {
	w, x, y, z := *a, *b, *c, *d
	w += x
	z ^= w
	z = z<<16 | z>>16
	y += z
	x ^= y
	x = x<<12 | x>>20
	w += x
	z ^= w
	z = z<<8 | z>>24
	y += z
	x ^= y
	x = x<<7 | x>>25
	*a, *b, *c, *d = w, x, y, z
}
