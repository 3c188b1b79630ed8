package system

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

type errno = calls.Errno

// machine is a core of one process with two threads and three mappings.
type machine struct{}

func (machine) NewTable() uint64                              { return 0 }
func (machine) ReleaseTable(uint64)                           {}
func (machine) Install(uint64, int, *vfs.File) errno          { return 0 }
func (machine) Remove(uint64, int)                            {}
func (machine) Release(uint64)                                {}
func (machine) Pipe(uint32) (r, w calls.Object, e errno)      { return r, w, unix.ENOMEM }
func (machine) PipeEnd(uint64, uint32) (calls.Object, errno)  { return calls.Object{}, unix.ENOMEM }
func (machine) Eventfd(uint64, uint32) (calls.Object, errno)  { return calls.Object{}, unix.ENOMEM }
func (machine) Timerfd(int, uint32) (calls.Object, errno)     { return calls.Object{}, unix.ENOMEM }
func (machine) Epoll(uint32) (calls.Object, errno)            { return calls.Object{}, unix.ENOMEM }
func (machine) Control(uint64, uint64, uint64) (int64, errno) { return 0, unix.EINVAL }
func (machine) Transfer(uint64, bool, uint64, int) (int, errno) {
	return 0, unix.EAGAIN
}
func (machine) TransferBytes(uint64, bool, []byte) (int, errno) { return 0, unix.EAGAIN }
func (machine) Process(pid uint32, i *abi.ProcessInfo) errno {
	*i = abi.ProcessInfo{PID: pid, Threads: 2, State: 'S', Virtual: 1 << 20, Resident: 1 << 16, ArgStart: 0, ArgEnd: 10}
	copy(i.Name[:], "prog)ram")
	return 0
}
func (machine) Credentials(uint32, *abi.Credentials) {}
func (machine) Thread(tid uint32, i *abi.ThreadInfo) errno {
	*i = abi.ThreadInfo{TID: tid, PID: 1, State: 'R'}
	copy(i.Name[:], "worker")
	return 0
}
func (machine) Threads(pid, after uint32, into []uint32) int {
	n := 0
	for _, id := range []uint32{1, 7} {
		if id > after {
			into[n] = id
			n++
		}
	}
	return n
}
func (machine) Maps(pid uint32, from uint64, into []abi.Map) (int, errno) {
	all := []abi.Map{{Start: 0x400000, End: 0x401000, Prot: unix.PROT_READ | unix.PROT_EXEC}, {Start: 0x10000000, End: 0x10002000, Prot: unix.PROT_READ | unix.PROT_WRITE, Flags: unix.MAP_SHARED},
		{Start: 0x7ffffff00000, End: 0x7ffffff10000, Prot: 3, Kind: abi.MapStack}}
	n := 0
	for _, m := range all {
		if m.End > from && n < len(into) {
			into[n] = m
			n++
		}
	}
	return n, 0
}
func (machine) ReadProcess(_ uint32, addr uint64, p []byte) int {
	return copy(p, "prog\x00arg\x00"[addr:])
}
func (machine) Memory(m *abi.MemoryInfo)   { m.Total, m.Free = 1<<30, 1<<29 }
func (machine) Random(p []byte)            { clear(p) }
func (machine) Monotonic() int64           { return 12_340_000_000 }
func (machine) Account(name string) []byte { return []byte(name + "\n") }

type noLine struct{}

func (noLine) Send([]byte)             {}
func (noLine) Receive([]byte) int      { return 0 }
func (noLine) Ready() (uint64, uint32) { return 0, 0 }
func (noLine) Signal(int32, int)       {}

type caller struct {
	t   *testing.T
	c   *calls.Call
	p   *calls.Process
	own *usermem.Own
}

// do makes a call; its memory is c.own from address 0.
func (c *caller) do(nr uint64, args ...uint64) int64 {
	r := abi.Request{PID: 1, TID: 1}
	a := append(args, 0, 0, 0, 0, 0, 0)
	r.AX, r.DI, r.SI, r.DX, r.R10, r.R8, r.R9 = nr, a[0], a[1], a[2], a[3], a[4], a[5]
	c.c.Serve(&r, c.p)
	return r.Result
}

func (c *caller) path(s string) uint64 {
	copy(c.own.B, s+"\x00")
	return 0
}

func start(t *testing.T) *caller {
	k, err := New(Options{Machine: machine{}, Store: new(object.Heap), Line: noLine{}, CommandLine: "console=ttyS0", CPUs: 2, Memory: 1 << 28, Now: func() int64 { return time.Now().UnixNano() }})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Init(k, "/")
	if err != nil {
		t.Fatal(err)
	}
	own := &usermem.Own{B: make([]byte, 1<<16)}
	return &caller{t, &calls.Call{K: k, Mem: own}, p, own}
}

func (c *caller) read(path string) (string, int64) {
	fd := c.do(unix.SYS_OPEN, c.path(path), unix.O_RDONLY)
	if fd < 0 {
		return "", fd
	}
	defer c.do(unix.SYS_CLOSE, uint64(fd))
	var all []byte
	for {
		n := c.do(unix.SYS_READ, uint64(fd), 8192, 100)
		if n < 0 {
			return string(all), n
		}
		if n == 0 {
			return string(all), 0
		}
		all = append(all, c.own.B[8192:8192+n]...)
	}
}

// walk reads every file and lists every directory below one.
func (c *caller) walk(dir string, depth int, seen *int) {
	fd := c.do(unix.SYS_OPEN, c.path(dir), unix.O_RDONLY|unix.O_DIRECTORY)
	if fd < 0 {
		c.t.Errorf("%s: %v", dir, unix.Errno(-fd))
		return
	}
	type entry struct {
		name string
		kind byte
	}
	var list []entry
	for {
		n := c.do(unix.SYS_GETDENTS64, uint64(fd), 8192, 200)
		if n < 0 {
			c.t.Errorf("%s: getdents64: %v", dir, unix.Errno(-n))
		}
		if n <= 0 {
			break
		}
		for b := c.own.B[8192 : 8192+n]; len(b) > 0; {
			size := binary.LittleEndian.Uint16(b[16:])
			name, _, _ := bytes.Cut(b[19:size], []byte{0})
			list = append(list, entry{string(name), b[18]})
			b = b[size:]
		}
	}
	c.do(unix.SYS_CLOSE, uint64(fd))
	for _, e := range list {
		path := strings.TrimSuffix(dir, "/") + "/" + e.name
		if e.name == "." || e.name == ".." {
			continue
		}
		*seen++
		if strings.HasSuffix(dir, "/fd") && e.name > "2" || strings.HasSuffix(dir, "/fdinfo") && e.name > "2" {
			continue // the walk's own, closed by now
		}
		if n := c.do(unix.SYS_LSTAT, c.path(path), 8192); n != 0 {
			c.t.Errorf("%s: lstat: %v", path, unix.Errno(-n))
		} else if kind := byte(binary.LittleEndian.Uint32(c.own.B[8192+24:]) >> 12); kind != e.kind {
			c.t.Errorf("%s: type %d in the directory, %d by lstat", path, e.kind, kind)
		}
		switch e.kind {
		case unix.DT_DIR:
			if depth < 8 {
				c.walk(path, depth+1, seen)
			}
		case unix.DT_LNK:
			if n := c.do(unix.SYS_READLINK, c.path(path), 8192, 100); n <= 0 {
				c.t.Errorf("%s: readlink: %d", path, n)
			}
		case unix.DT_REG:
			if _, e := c.read(path); e != 0 {
				c.t.Errorf("%s: %v", path, unix.Errno(-e))
			}
		}
	}
}

func TestEverythingCanBeRead(t *testing.T) {
	c := start(t)
	seen := 0
	c.walk("/", 0, &seen)
	if seen < 150 {
		t.Errorf("%d files in all", seen)
	}
}

func TestProc(t *testing.T) {
	c := start(t)
	for path, want := range map[string]string{
		"/proc/self/cmdline":                          "prog\x00arg\x00",
		"/proc/self/comm":                             "prog)ram\n",
		"/proc/self/task/7/comm":                      "worker\n",
		"/proc/uptime":                                "12.34 0.00\n",
		"/proc/sys/kernel/ostype":                     "Linux\n",
		"/proc/cmdline":                               "console=ttyS0\n",
		"/proc/leveret/faults":                        "faults\n",
		"/sys/devices/system/cpu/online":              "0-1\n",
		"/sys/devices/system/cpu/possible":            "0-1\n",
		"/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
	} {
		if got, e := c.read(path); got != want || e != 0 {
			t.Errorf("%s: %q, %d; want %q", path, got, e, want)
		}
	}
	for path, want := range map[string]string{
		"/proc/self/stat":   "1 (prog)ram) S ",
		"/proc/self/status": "Name:\tprog)ram\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t1\n",
		"/proc/self/maps":   "00400000-00401000 r-xp 00000000 00:00 0 \n10000000-10002000 rw-s 00000000 00:00 0 \n7ffffff00000-7ffffff10000 rw-p 00000000 00:00 0                          [stack]\n",
		"/proc/meminfo":     "MemTotal:        1048576 kB\nMemFree:          524288 kB\n",
		"/proc/mounts":      "rootfs / rootfs rw,noatime 0 0\ndevtmpfs /dev devtmpfs rw,noatime 0 0\nproc /proc proc ",
	} {
		if got, e := c.read(path); !strings.HasPrefix(got, want) || e != 0 {
			t.Errorf("%s: %q, %d; want %q…", path, got, e, want)
		}
	}
	stat, _ := c.read("/proc/self/stat")
	if n := len(strings.Fields(stat[strings.LastIndexByte(stat, ')'):])); n != 51 {
		t.Errorf("/proc/self/stat has %d fields after the name, want 50", n-1)
	}
	for path, want := range map[string]errno{"/proc/2": unix.ENOENT, "/proc/self/nope": unix.ENOENT, "/proc/self/task/3": unix.ENOENT, "/proc/01": unix.ENOENT, "/proc/self/fd/77": unix.ENOENT} {
		if _, e := c.read(path); e != -int64(want) {
			t.Errorf("%s: %d, want %v", path, e, want)
		}
	}
	if n := c.do(unix.SYS_READLINK, c.path("/proc/self/fd/1"), 8192, 100); string(c.own.B[8192:8192+max(n, 0)]) != "/dev/console" {
		t.Errorf("fd 1: %d, %q", n, c.own.B[8192:8210])
	}
	for nr, want := range map[uint64]errno{unix.SYS_MKDIR: unix.EPERM, unix.SYS_UNLINK: unix.ENOENT, unix.SYS_RMDIR: unix.ENOENT} {
		if n := c.do(nr, c.path("/proc/x"), 0o755); n != -int64(want) {
			t.Errorf("call %d: %d, want %v", nr, n, want)
		}
	}
}

func TestHugePagesCanBeSet(t *testing.T) {
	c := start(t)
	const path = "/sys/kernel/mm/transparent_hugepage/enabled"
	fd := c.do(unix.SYS_OPEN, c.path(path), unix.O_WRONLY)
	copy(c.own.B, "always\nnonsense")
	if n := c.do(unix.SYS_WRITE, uint64(fd), 0, 7); n != 7 {
		t.Error(n)
	}
	if n := c.do(unix.SYS_WRITE, uint64(fd), 7, 8); n != -int64(unix.EINVAL) {
		t.Error(n)
	}
	if got, _ := c.read(path); got != "[always] madvise never\n" {
		t.Errorf("%q", got)
	}
}
