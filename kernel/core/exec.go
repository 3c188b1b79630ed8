//go:build amd64

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/core/object"
	"github.com/leveret-os/leveret/kernel/core/phys"
	"github.com/leveret-os/leveret/kernel/core/space"
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// words collects the arguments and the environment of a program: each word ends
// with a NUL.
type words struct {
	bytes  [2048]byte
	n      uint64
	args   uint64 // how many words are arguments; the rest is the environment
	values uint64
}

// add appends a word of the environment, or an argument if arg is set.
func (w *words) add(s string, arg bool) {
	if w.n+uint64(len(s))+1 > uint64(len(w.bytes)) {
		die("too many arguments")
	}
	for i := 0; i < len(s); i++ {
		w.bytes[w.n] = s[i]
		w.n++
	}
	w.bytes[w.n] = 0
	w.n++
	if arg {
		w.args++
	} else {
		w.values++
	}
}

// argsLength is how many bytes the arguments take.
func (w *words) argsLength() uint64 {
	n, left := uint64(0), w.args
	for ; left > 0 && n < w.n; n++ {
		if w.bytes[n&uint64(len(w.bytes)-1)] == 0 {
			left--
		}
	}
	return n
}

// stack writes a program's first stack downwards.
type stack struct {
	c  *CPU
	as *AddressSpace
	sp uint64
	ok bool
}

func (s *stack) push(v uint64) {
	s.sp -= 8
	s.ok = s.as.put64(s.c, s.sp, v) && s.ok
}

func (s *stack) pushBytes(p unsafe.Pointer, n uint64) uint64 {
	s.sp -= n
	s.ok = s.as.CopyOut(&s.c.mm, s.sp, p, n) == n && s.ok
	return s.sp
}

// pushPair pushes an entry of the auxiliary vector.
func (s *stack) pushPair(key, v uint64) {
	s.push(v)
	s.push(key)
}

// buildStack writes what a program finds on its stack (System V ABI for x86-64,
// 3.4.1): the words, the auxiliary vector, the vectors of pointers, the count.
// It returns the stack pointer, and false when there is no memory.
func buildStack(c *CPU, as *AddressSpace, p *program, w *words, top uint64) (sp uint64, ok bool) {
	s := stack{c: c, as: as, sp: top - 16, ok: true}
	name := s.sp
	if w.args > 0 {
		n := uint64(0)
		for w.bytes[n] != 0 {
			n++
		}
		name = s.pushBytes(unsafe.Pointer(&w.bytes), n+1)
	}
	text := s.pushBytes(unsafe.Pointer(&w.bytes), w.n)
	platform := [8]byte{'x', '8', '6', '_', '6', '4'}
	platformAt := s.pushBytes(unsafe.Pointer(&platform), 8)
	var seed [2]uint64
	randomBytes(unsafe.Pointer(&seed), 16)
	random := s.pushBytes(unsafe.Pointer(&seed), 16)
	s.sp &^= 15
	if (w.args+w.values)&1 == 0 { // so that the count is at a multiple of 16
		s.sp -= 8
	}
	_, _, _, hwcap := x86.Cpuid(1, 0)
	p.layout.auxEnd = s.sp
	s.pushPair(0, 0)
	if p.vdso != 0 {
		s.pushPair(33, p.vdso) // AT_SYSINFO_EHDR
	}
	s.pushPair(51, 3376) // AT_MINSIGSTKSZ
	s.pushPair(25, random)
	s.pushPair(31, name)
	s.pushPair(15, platformAt)
	s.pushPair(26, 2) // AT_HWCAP2: FSGSBASE
	s.pushPair(16, uint64(hwcap))
	s.pushPair(6, 4096)
	s.pushPair(17, 100)
	if p.HeaderAddress != 0 {
		s.pushPair(3, p.HeaderAddress+p.bias)
		s.pushPair(4, 56)
		s.pushPair(5, p.Programs)
	}
	s.pushPair(7, 0)
	s.pushPair(8, 0)
	s.pushPair(9, p.entry)
	s.pushPair(11, 0) // ids
	s.pushPair(12, 0)
	s.pushPair(13, 0)
	s.pushPair(14, 0)
	s.pushPair(23, 0)
	p.layout.auxStart = s.sp
	p.layout.words = text
	pushVectors(&s, w, text)
	s.push(w.args)
	return s.sp, s.ok
}

// pushVectors pushes the pointers to the words, which lie at text, and a nil
// behind each of the two lists.
func pushVectors(s *stack, w *words, text uint64) {
	end := s.sp
	s.sp -= (w.args + w.values + 2) * 8
	at, i := s.sp, uint64(0)
	for n := uint64(0); n < w.args+w.values; n++ {
		if n == w.args {
			s.ok = s.as.put64(s.c, at, 0) && s.ok
			at += 8
		}
		s.ok = s.as.put64(s.c, at, text+i) && s.ok
		at += 8
		for w.bytes[i&uint64(len(w.bytes)-1)] != 0 {
			i++
		}
		i++
	}
	for ; at < end; at += 8 {
		s.ok = s.as.put64(s.c, at, 0) && s.ok
	}
}

var startWords words

// start loads the program of n bytes at a direct-map address and makes a thread
// that will run it. top is the end of its stack, or of one of size bytes for
// services.
func start(c *CPU, as *AddressSpace, f, n, top, size uint64, w *words, pr *Process) *Thread {
	o := mem.Objects.Get()
	if o == nil {
		die("no memory")
	}
	o.InitInPlace(&memory, phys.Address(ptr(f)), n)
	return startObject(c, as, o, top, size, w, pr)
}

// startObject is start for a program in an object.
func startObject(c *CPU, as *AddressSpace, o *object.Object, top, size uint64, w *words, pr *Process) *Thread {
	var p program
	switch errno := loadProgram(c, as, o, &p); {
	case errno == unix.ENOMEM:
		die("no memory for the program")
	case errno != 0:
		die("the program cannot be loaded: it is no ELF file for x86_64, or a broken one")
	case p.Interpreter && !pr.ring0:
		die("the program cannot be loaded: it is dynamically linked, and this kernel wants static ones")
	}
	errno := unix.Errno(0)
	if pr.ring0 {
		r := space.Request{Addr: top - size, Length: size, Prot: 3, Flags: unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED}
		errno = mapNow(c, as, &r)
	} else {
		errno = mapStack(c, as, top)
	}
	if !pr.ring0 {
		p.vdso = mapVDSO(c, as)
	}
	sp, ok := buildStack(c, as, &p, w, top)
	if errno != 0 || !ok {
		die("no memory for a stack")
	}
	p.layout.stack = sp
	pr.layout = p.layout
	pr.layout.wordsEnd = p.layout.words + w.n
	pr.layout.argsEnd = p.layout.words + w.argsLength()
	t := newThread(c, pr)
	if t == nil {
		die("no memory")
	}
	t.parent = 0
	f := regs(t)
	f.IP, f.SP = p.entry, sp
	enqueue(c, t, queueNew)
	return t
}
