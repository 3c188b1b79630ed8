//go:build amd64

package main

import "unsafe"

// Fields of struct rseq (uapi/linux/rseq.h).
const (
	rseqCriticalSection = 8  // address of a rseqSection, or 0
	rseqNode            = 20 // node and, behind it, the id of concurrency
	rseqMinSize         = 32
)

// rseqSection is struct rseq_cs: a critical section that begins at start, is
// over behind length bytes, and goes on at abort when it is disturbed.
type rseqSection struct {
	version, flags       uint32
	start, length, abort uint64
}

// sysRseq: rseq(2).
func sysRseq(c *CPU, t *Thread) {
	addr, size, flags, sig := t.DI, uint32(t.SI), uint32(t.DX), uint32(t.R10)
	if flags&1 != 0 { // RSEQ_FLAG_UNREGISTER
		switch {
		case flags != 1 || t.rseq != addr || t.rseq == 0 || size != t.rseqSize:
			t.AX = eINVAL
		case sig != t.rseqSig:
			t.AX = ePERM
		default:
			t.rseq = 0
			write64(c, addr, 0xffffffff<<32) // RSEQ_CPU_ID_UNINITIALIZED
			write64(c, addr+rseqNode, 0)
			t.AX = 0
		}
		return
	}
	switch {
	case flags != 0:
		t.AX = eINVAL
	case t.rseq != 0:
		t.AX = eINVAL
		if t.rseq == addr && size == t.rseqSize {
			t.AX = eBUSY
			if sig != t.rseqSig {
				t.AX = ePERM
			}
		}
	case size < rseqMinSize || addr&31 != 0:
		t.AX = eINVAL
	case badRange(t, addr, uint64(size)):
		t.AX = eFAULT
	default:
		t.rseq, t.rseqSize, t.rseqSig = addr, size, sig
		if t.AX = 0; !writeRseq(c, t) {
			t.rseq = 0
			t.AX = eFAULT
		}
	}
}

// writeRseq tells the program on which processor t, the current thread, runs.
// At most one thread runs on each, so its number serves as the id of
// concurrency too.
func writeRseq(c *CPU, t *Thread) bool {
	n := c.number
	t.rseqCPU = uint32(n)
	return write64(c, t.rseq, n|n<<32) && write64(c, t.rseq+rseqNode, n<<32)
}

// resumeRseq is done before t, the current thread, resumes after it was
// preempted or has moved to another processor.
func resumeRseq(c *CPU, t *Thread) bool {
	return t.rseq == 0 || abortRseq(c, t) && writeRseq(c, t)
}

// abortRseq makes t go on at the abort address of the critical section that it
// is in, if any. false: what the program registered is wrong, or not memory.
func abortRseq(c *CPU, t *Thread) bool {
	at, ok := read64(c, t.rseq+rseqCriticalSection)
	if !ok || at == 0 {
		return ok
	}
	var s rseqSection
	if badRange(t, at, 32) || !copyIn(c, unsafe.Pointer(&s), at, 32) {
		return false
	}
	end := s.start + s.length
	if s.version != 0 || s.start >= userTop || end < s.start || end >= userTop || s.abort >= userTop || s.abort-s.start < s.length {
		return false
	}
	if sig, ok := read32(c, s.abort-4); !ok || sig != t.rseqSig {
		return false
	}
	if t.IP-s.start < s.length {
		if s.flags != 0 {
			return false
		}
		t.IP = s.abort
	}
	return write64(c, t.rseq+rseqCriticalSection, 0)
}
