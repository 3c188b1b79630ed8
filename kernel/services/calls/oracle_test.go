package calls

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
)

// The oracle is Linux itself: a thread with files and a root of its own, on
// an empty tmpfs, makes each call, and then the code here makes the same call
// with the same memory. Results and what came back in memory must be equal.

// Arguments of a step, beside integers and strings.
type (
	out int    // a buffer of so many bytes, compared afterwards
	raw []byte // bytes that are there before
	bad struct{}
	vec []any // an array of struct iovec over out, raw and string
)

type step struct {
	nr   uintptr
	args []any
}

func do(nr uintptr, args ...any) step { return step{nr, args} }

func (s step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(", callName(s.nr))
	for i, a := range s.args {
		if i > 0 {
			b.WriteString(", ")
		}
		switch a := a.(type) {
		case string:
			if len(a) > 60 {
				a = a[:20] + "…"
			}
			fmt.Fprintf(&b, "%q", a)
		case raw:
			fmt.Fprintf(&b, "raw[%d]", len(a))
		case bad:
			b.WriteString("bad")
		default:
			fmt.Fprintf(&b, "%#v", a)
		}
	}
	return b.String() + ")"
}

const arena = 4 << 20

type oracle struct {
	t      testing.TB
	mem    []byte
	base   uint64
	native chan func()
	k      *Kernel
	p      *Process
	c      *Call
	log    []string
	dir    string
}

func newOracle(t testing.TB) *oracle {
	t.Helper()
	if unix.Getuid() != 0 {
		t.Skip("needs root: a thread with a root directory of its own")
	}
	var st unix.Statfs_t
	if unix.Statfs("/dev/shm", &st) != nil || st.Type != unix.TMPFS_MAGIC {
		t.Skip("needs a tmpfs at /dev/shm")
	}
	mem, err := unix.Mmap(-1, 0, arena, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{t: t, mem: mem, base: addressOf(mem), native: make(chan func())}
	if o.dir, err = os.MkdirTemp("/dev/shm", "oracle"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(o.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.k, o.p, o.c = newHost()
	ready := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_FS | unix.CLONE_FILES)
		if err == nil {
			if err = unix.Chroot(o.dir); err == nil {
				err = unix.Chdir("/")
			}
			unix.Umask(0o022)
		}
		ready <- err
		for f := range o.native {
			f()
		}
	}()
	if err := <-ready; err != nil {
		t.Skip("a thread with a root of its own: ", err)
	}
	t.Cleanup(func() {
		close(o.native)
		unix.Munmap(mem)
		os.RemoveAll(o.dir)
	})
	o.run(do(unix.SYS_CLOSE_RANGE, 0, 1<<32-1, 0))
	for range 3 {
		o.run(do(unix.SYS_OPEN, "/", unix.O_RDONLY, 0))
	}
	return o
}

// place lays the arguments out and returns their values and, for each, where
// it lies.
func (o *oracle) place(args []any) (v [6]uint64, at [][2]int) {
	used := 0
	put := func(b []byte) int {
		used = (used + 15) &^ 15
		n := copy(o.mem[used:], b)
		used += n
		return used - n
	}
	value := func(a any) (uint64, int, int) {
		switch a := a.(type) {
		case int:
			return uint64(a), 0, 0
		case uint64:
			return a, 0, 0
		case uint32:
			return uint64(a), 0, 0
		case string:
			off := put(append([]byte(a), 0))
			return o.base + uint64(off), off, len(a)
		case raw:
			off := put(a)
			return o.base + uint64(off), off, len(a)
		case out:
			off := put(bytes.Repeat([]byte{0xaa}, int(a)))
			return o.base + uint64(off), off, int(a)
		case bad:
			return 8, 0, 0
		}
		panic(fmt.Sprintf("argument of type %T", a))
	}
	for i, a := range args {
		if parts, ok := a.(vec); ok {
			var iov []byte
			for _, p := range parts {
				addr, off, n := value(p)
				if n > 0 {
					at = append(at, [2]int{off, n})
				}
				iov = binary.LittleEndian.AppendUint64(iov, addr)
				iov = binary.LittleEndian.AppendUint64(iov, uint64(n))
			}
			off := put(iov)
			v[i] = o.base + uint64(off)
			continue
		}
		addr, off, n := value(a)
		v[i] = addr
		if n > 0 {
			at = append(at, [2]int{off, n})
		}
	}
	return v, at
}

func (o *oracle) grab(at [][2]int) (b [][]byte) {
	for _, r := range at {
		b = append(b, bytes.Clone(o.mem[r[0]:r[0]+r[1]]))
	}
	return b
}

// run makes one call on both sides, and reports whether they agree.
func (o *oracle) run(s step) (int64, bool) {
	o.t.Helper()
	v, at := o.place(s.args)
	var want int64
	done := make(chan bool)
	o.native <- func() {
		r, _, e := unix.RawSyscall6(s.nr, uintptr(v[0]), uintptr(v[1]), uintptr(v[2]), uintptr(v[3]), uintptr(v[4]), uintptr(v[5]))
		if want = int64(r); e != 0 {
			want = -int64(e)
		}
		done <- true
	}
	<-done
	wantMem := o.grab(at)
	o.place(s.args)
	r := abi.Request{}
	r.AX, r.DI, r.SI, r.DX, r.R10, r.R8, r.R9 = uint64(s.nr), v[0], v[1], v[2], v[3], v[4], v[5]
	r.PID, r.TID = 1, 1
	if waits, ok := o.c.Serve(&r, o.p); waits || !ok {
		o.t.Errorf("%s: waits %v, known %v", s, waits, ok)
		return want, false
	}
	got := r.Result
	gotMem := o.grab(at)
	o.log = append(o.log, fmt.Sprintf("%s = %s", s, show(want)))
	if got != want {
		o.t.Errorf("%s: Linux %s, here %s", s, show(want), show(got))
		return want, false
	}
	for i := range wantMem {
		a, b := normal(s, i, want, wantMem[i]), normal(s, i, want, gotMem[i])
		if a != b {
			o.t.Errorf("%s = %s: memory of argument %d: Linux\n%s\nhere\n%s", s, show(want), i, a, b)
			return want, false
		}
	}
	return want, true
}

func show(n int64) string {
	if n < 0 && n > -4096 {
		return unix.ErrnoName(unix.Errno(-n))
	}
	return fmt.Sprint(n)
}

// normal is what has to be equal in memory: the numbers that each system
// gives out itself are left out.
func normal(s step, i int, result int64, b []byte) string {
	le := binary.LittleEndian
	if result < 0 {
		return string(b)
	}
	switch s.nr {
	case unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_FSTAT, unix.SYS_NEWFSTATAT:
		if len(b) == 144 {
			return fmt.Sprintf("nlink %d mode %#o uid %d gid %d rdev %#x size %d blksize %d blocks %d", le.Uint64(b[16:]), le.Uint32(b[24:]), le.Uint32(b[28:]), le.Uint32(b[32:]),
				le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint64(b[56:]), le.Uint64(b[64:]))
		}
	case unix.SYS_STATX:
		if len(b) == 256 {
			return fmt.Sprintf("mask %#x blksize %d nlink %d uid %d gid %d mode %#o size %d blocks %d rdev %#x:%#x", le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[16:]), le.Uint32(b[20:]),
				le.Uint32(b[24:]), le.Uint16(b[28:]), le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint32(b[128:]), le.Uint32(b[132:]))
		}
	case unix.SYS_GETDENTS64:
		var names []string
		for off := 0; off < int(result); {
			n := int(le.Uint16(b[off+16:]))
			name, _, _ := strings.Cut(string(b[off+19:off+n]), "\x00")
			names = append(names, fmt.Sprintf("%s %d", name, b[off+18]))
			off += n
		}
		sort.Strings(names)
		return strings.Join(names, "\n")
	case unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_UNAME:
		return ""
	}
	return fmt.Sprintf("%q", b)
}
