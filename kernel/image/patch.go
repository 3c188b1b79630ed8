package image

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
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

// removeLoadsOfG replaces the loads of g in core's functions by no-ops and
// returns how many there were.
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
		for i := 0; i+len(loadG) <= len(code); i++ {
			if bytes.Equal(code[i:i+len(loadG)], loadG) {
				copy(code[i:], nop9)
				n++
			} else if code[i] == 0x64 && code[i+1]&0xf8 == 0x48 && code[i+2] == 0x8b && code[i+3]&0xc7 == 0x04 && code[i+4] == 0x25 {
				// the only form that the compiler and the assembler make
				return n, fmt.Errorf("%w: %s+%#x uses FS", ErrUnfit, f.name, i)
			}
		}
	}
	return n, nil
}

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

// allowed are the functions of the runtime that core's code may really run:
// leaves that use no vector register but X15.
var allowed = []string{"runtime.memequal", "memeqbody"}

// checkCalls refuses core when a function of its packages calls what is
// neither core's, nor trapped, nor allowed.
func (l *linked) checkCalls() error {
	starts := map[uint64]string{}
	for _, f := range l.functions {
		starts[f.addr] = f.name
	}
	bad := map[string][]string{}
	for _, f := range l.functions {
		if !ours(f.name) {
			continue
		}
		code, err := l.at(f.addr, f.size)
		if err != nil {
			return err
		}
		for i := 0; i+5 <= len(code); i++ {
			if code[i] != 0xe8 && code[i] != 0xe9 {
				continue
			}
			to := f.addr + uint64(i) + 5 + uint64(int64(int32(le.Uint32(code[i+1:]))))
			name, isStart := starts[to]
			if isStart && !ours(name) && !hasPrefix(name, trapped) && !hasPrefix(name, allowed) && !slices.Contains(bad[name], f.name) {
				bad[name] = append(bad[name], f.name)
			}
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		errs = append(errs, fmt.Errorf("%w: %s is called by %s", ErrUnfit, name, strings.Join(bad[name], ", ")))
	}
	return errors.Join(errs...)
}
