package image

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnfit says that core's code could do what a kernel without a runtime
// cannot.
var ErrUnfit = errors.New("image: core needs a runtime")

// loadG is MOVQ FS:-8, R14, which the compiler puts behind calls of assembly
// functions: it would load g from a user's thread-local storage. R14 is never
// changed by core's assembly, so nothing is lost without the load.
var (
	loadG = []byte{0x64, 0x4c, 0x8b, 0x34, 0x25, 0xf8, 0xff, 0xff, 0xff}
	nop9  = []byte{0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}
)

// trapped are the entry points of the runtime, by prefix, that core's code may
// contain calls of and that must never run: they lead to core's crash report.
var trapped = []string{
	"runtime.gopanic", "runtime.panic", "runtime.goPanic", "runtime.morestack",
	"runtime.throw", "runtime.fatal",
}

// alsoTrapped are entry points that core's code must not even contain calls of;
// they are replaced all the same, should one be reached by way of another.
var alsoTrapped = []string{
	"runtime.mallocgc", "runtime.newobject", "runtime.deferproc", "runtime.gcWriteBarrier",
	"runtime.growslice", "runtime.makeslice", "runtime.newproc", "runtime.mcall", "runtime.systemstack",
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// allowed are the functions of the runtime that core's code may really run:
// leaves that use no vector register but X15.
var allowed = []string{"runtime.memequal", "runtime.duffzero"}

// check goes over every instruction of core's packages, and refuses
//
//   - a call or jump to what is neither core's, nor trapped, nor allowed: an
//     allocation, a map, a channel, a deferred call, a conversion;
//   - in compiled code, a use of a vector register other than X14 and X15,
//     which core's entry saves: the others hold the program's values. The
//     compiler takes one for copies of 16 bytes and more and for floating-point
//     numbers;
//   - in compiled code, anything with VEX, which would end the program's upper
//     halves;
//   - a use of FS, but for loads of g, which removeLoadsOfG takes out;
//   - moves and stores with REP, which an emulator does a byte at a time.
//
// A function may offend in many places; the first is reported.
func (l *linked) check() error {
	var errs []error
	for _, f := range l.functions {
		if !ours(f.name) {
			continue
		}
		code, err := l.at(f.addr, f.size)
		if err != nil {
			return err
		}
		if err := l.checkFunction(f, code); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l *linked) checkFunction(f function, code []byte) error {
	refuse := func(at int, format string, args ...any) error {
		return fmt.Errorf("%w: %s+%#x %s", ErrUnfit, f.name, at, fmt.Sprintf(format, args...))
	}
	for at := 0; at < len(code); {
		i, ok := decode(code[at:])
		end := at + i.size
		switch {
		case !ok:
			return refuse(at, "is no instruction that is known: % x", code[at:min(at+15, len(code))])
		case i.vex && !f.assembly:
			return refuse(at, "uses VEX")
		case i.segment == 0x64 && !bytes.Equal(code[at:end], loadG):
			return refuse(at, "uses FS")
		case i.repeat != 0 && (i.opcode >= 0xa4 && i.opcode <= 0xa7 || i.opcode >= 0xaa && i.opcode <= 0xaf):
			return refuse(at, "repeats a string instruction")
		case !f.assembly && i.vectors()&^(1<<14|1<<15) != 0:
			return refuse(at, "uses a vector register: copy less than 16 bytes at a time")
		case i.relative == 4:
			to := f.addr + uint64(end) + uint64(int64(int32(le.Uint32(code[end-4:]))))
			name := l.functionAt(to)
			if !ours(name) && !hasPrefix(name, trapped) && !hasPrefix(name, allowed) {
				return refuse(at, "calls %s", name)
			}
		}
		at = end
	}
	return nil
}

// functionAt names the function that an address is in.
func (l *linked) functionAt(addr uint64) string {
	n, found := slices.BinarySearchFunc(l.functions, addr, func(f function, a uint64) int {
		switch {
		case f.addr > a:
			return 1
		case f.addr+f.size <= a:
			return -1
		}
		return 0
	})
	if !found {
		return fmt.Sprintf("%#x", addr)
	}
	return l.functions[n].name
}

// removeLoadsOfG replaces the loads of g in core's functions by no-ops and
// returns how many there were. The code has passed check.
func (l *linked) removeLoadsOfG() (int, error) {
	n := 0
	for _, f := range l.functions {
		if !ours(f.name) {
			continue
		}
		code, err := l.at(f.addr, f.size)
		if err != nil {
			return n, err
		}
		for at := 0; at < len(code); {
			i, _ := decode(code[at:])
			if i.segment == 0x64 {
				copy(code[at:], nop9)
				n++
			}
			at += max(i.size, 1)
		}
	}
	return n, nil
}

// trapRuntime makes the runtime's entry points call core's panicEntry, and
// returns how many.
func (l *linked) trapRuntime() (int, error) {
	to, err := l.symbol("main.panicEntry")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range l.functions {
		if f.size < 5 || !hasPrefix(f.name, trapped) && !hasPrefix(f.name, alsoTrapped) {
			continue
		}
		code, err := l.at(f.addr, 5)
		if err != nil {
			return n, err
		}
		code[0] = 0xe8 // CALL rel32
		le.PutUint32(code[1:], uint32(to-(f.addr+5)))
		n++
	}
	return n, nil
}
