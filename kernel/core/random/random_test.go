package random

import (
	"bytes"
	"encoding/hex"
	"testing"
	"unsafe"
)

func fill(g *Generator, n int) []byte {
	b := make([]byte, n+1)
	b[n] = 0x5a
	g.Fill(unsafe.Pointer(&b[0]), uint64(n))
	if b[n] != 0x5a {
		panic("a byte too many")
	}
	return b[:n]
}

// RFC 8439, A.1, test vectors 1 and 2: key and nonce of zeros.
func TestVectors(t *testing.T) {
	for counter, want := range []string{
		"76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
		"9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
	} {
		var g Generator
		g.next(uint32(counter))
		got := unsafe.Slice((*byte)(unsafe.Pointer(&g.block)), 64)
		if hex.EncodeToString(got) != want {
			t.Errorf("block %d: %x", counter, got)
		}
	}
}

func TestFill(t *testing.T) {
	var a, b Generator
	if !bytes.Equal(fill(&a, 200), fill(&b, 200)) {
		t.Error("the same key gives other bytes")
	}
	first := fill(&a, 64)
	if bytes.Equal(first, fill(&a, 64)) {
		t.Error("the same bytes twice")
	}
	if bytes.Contains(unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a)), first[:16]) {
		t.Error("the generator keeps what it gave out")
	}
	b.Add(1)
	c := Generator{}
	c.Add(2)
	if bytes.Equal(fill(&b, 32), fill(&c, 32)) {
		t.Error("a seed has no effect")
	}
	var ones int
	for _, v := range fill(&b, 1<<16) {
		for ; v != 0; v &= v - 1 {
			ones++
		}
	}
	if ones < 1<<18-4096 || ones > 1<<18+4096 {
		t.Errorf("%d ones in %d bits", ones, 1<<19)
	}
}
