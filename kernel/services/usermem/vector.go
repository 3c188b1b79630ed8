package usermem

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Part is one stretch of user memory: struct iovec.
type Part struct{ Addr, Len uint64 }

// A Vector is the memory that a read fills or a write takes, as a cursor over
// its parts. The zero value is empty; Set and Load fill it, and keep what
// they allocated for the next call.
type Vector struct {
	Mem   Memory
	parts []Part
	first [1]Part
	at    int    // the part that is next
	off   uint64 // bytes of it that are done
	left  int64
}

// Set makes v one part. EFAULT when it reaches beyond what users can map.
func (v *Vector) Set(m Memory, addr, n uint64) Errno {
	v.Mem, v.at, v.off = m, 0, 0
	if !Valid(addr, n) {
		return unix.EFAULT
	}
	v.left = int64(min(n, MaxTransfer))
	v.first[0] = Part{addr, uint64(v.left)}
	v.parts = v.first[:]
	return 0
}

// Load reads count parts from an array of struct iovec at addr; buf is
// scratch of at least 16 bytes. EINVAL, EFAULT as readv(2) has them. The
// parts are cut to MaxTransfer in all.
func (v *Vector) Load(m Memory, buf []byte, addr, count uint64) Errno {
	v.Mem, v.at, v.off, v.left = m, 0, 0, 0
	v.parts = v.parts[:0]
	if count > MaxVectors {
		return unix.EINVAL
	}
	if cap(v.parts) < 8 {
		v.parts = make([]Part, 0, 8)
	}
	for i := uint64(0); i < count; {
		n := min(count-i, uint64(len(buf)/16))
		if e := In(m, buf[:n*16], addr+i*16); e != 0 {
			return e
		}
		for k := range n {
			p := Part{binary.LittleEndian.Uint64(buf[k*16:]), binary.LittleEndian.Uint64(buf[k*16+8:])}
			if int64(p.Len) < 0 {
				return unix.EINVAL
			}
			v.parts = append(v.parts, p)
		}
		i += n
	}
	// A length that is wrong comes before an address that is.
	for i := range v.parts {
		p := &v.parts[i]
		if !Valid(p.Addr, p.Len) {
			v.left = 0
			return unix.EFAULT
		}
		p.Len = min(p.Len, uint64(MaxTransfer-v.left))
		v.left += int64(p.Len)
	}
	return 0
}

// Left is how many bytes are to go.
func (v *Vector) Left() int64 { return v.left }

// Limit cuts what is to go to n bytes.
func (v *Vector) Limit(n int64) { v.left = min(v.left, max(n, 0)) }

// Next is the stretch of memory that comes next, of at most limit bytes.
func (v *Vector) Next(limit int64) (addr uint64, n int) {
	for v.left > 0 && v.at < len(v.parts) {
		p := v.parts[v.at]
		if v.off < p.Len {
			return p.Addr + v.off, int(min(p.Len-v.off, uint64(v.left), uint64(limit)))
		}
		v.at, v.off = v.at+1, 0
	}
	return 0, 0
}

// Advance says that n bytes of what Next gave are done.
func (v *Vector) Advance(n int) {
	v.off += uint64(n)
	v.left -= int64(n)
}

// Out writes b to the memory, as far as it fits; EFAULT when not a byte could
// be written where some should have been.
func (v *Vector) Out(b []byte) (done int, e Errno) {
	for len(b) > 0 {
		addr, n := v.Next(int64(len(b)))
		if n == 0 {
			break
		}
		got := v.Mem.Out(addr, b[:n])
		v.Advance(got)
		done += got
		if got < n {
			return done, fault(done)
		}
		b = b[n:]
	}
	return done, 0
}

// In fills b from the memory, as far as that goes; EFAULT as Out.
func (v *Vector) In(b []byte) (done int, e Errno) {
	for len(b) > 0 {
		addr, n := v.Next(int64(len(b)))
		if n == 0 {
			break
		}
		got := v.Mem.In(b[:n], addr)
		v.Advance(got)
		done += got
		if got < n {
			return done, fault(done)
		}
		b = b[n:]
	}
	return done, 0
}

func fault(done int) Errno {
	if done == 0 {
		return unix.EFAULT
	}
	return 0
}
