// Package procfs makes /proc and /sys: what programs read to learn about
// themselves and the machine (proc(5), sysfs(5)).
package procfs

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/pseudo"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = vfs.Errno

// A Machine is what /proc needs of core.
type Machine interface {
	Process(pid uint32, into *abi.ProcessInfo) Errno
	Thread(tid uint32, into *abi.ThreadInfo) Errno
	Threads(pid, after uint32, into []uint32) int
	Maps(pid uint32, from uint64, into []abi.Map) (int, Errno)
	ReadProcess(pid uint32, addr uint64, p []byte) int
	Memory(into *abi.MemoryInfo)
	Monotonic() int64
	// Account is the text of a file below /proc/leveret, "" for none.
	Account(name string) []byte
}

// Options say what the machine is.
type Options struct {
	CommandLine string
	CPUs        int
}

type proc struct {
	k  *calls.Kernel
	m  Machine
	o  Options
	fs *vfs.FileSystem

	started int64 // ns since 1970
}

// Magic numbers of statfs(2).
const (
	procMagic = 0x9fa0
	sysMagic  = 0x62656572
)

// New makes the file system.
func New(dev uint64, k *calls.Kernel, m Machine, o Options, now int64) *vfs.FileSystem {
	fs := vfs.NewFileSystem("proc", dev, procMagic, nil, now)
	fs.Fixed, fs.Options = true, "rw,nosuid,nodev,noexec,noatime"
	fs.Root.Inode().Seed(0o555, 0, 0, now)
	p := &proc{k: k, m: m, o: o, fs: fs, started: now}
	fs.Root.Inode().Node = p
	t := pseudo.Tree{FS: fs, Now: now}
	root := fs.Root
	t.Node(root, "self", unix.S_IFLNK|0o777, pseudo.Link(func(c *vfs.Caller) ([]byte, Errno) {
		return strconv.AppendUint(nil, uint64(c.PID), 10), 0
	}))
	t.Node(root, "thread-self", unix.S_IFLNK|0o777, pseudo.Link(func(c *vfs.Caller) ([]byte, Errno) {
		return fmt.Appendf(nil, "%d/task/%d", c.PID, c.TID), 0
	}))
	t.Symlink(root, "mounts", "self/mounts")
	t.Text(root, "meminfo", p.meminfo)
	t.Text(root, "cpuinfo", p.cpuinfo)
	t.Text(root, "uptime", p.uptime)
	t.Text(root, "loadavg", p.loadavg)
	t.Text(root, "stat", p.stat)
	t.Text(root, "vmstat", p.vmstat)
	t.String(root, "version", fmt.Sprintf("Linux version %s (leveret) %s\n", calls.Release, calls.Version))
	t.String(root, "cmdline", o.CommandLine+"\n")
	t.String(root, "filesystems", "nodev\ttmpfs\nnodev\tproc\nnodev\tsysfs\nnodev\tdevtmpfs\nnodev\tramfs\n")
	t.String(root, "devices", "Character devices:\n  1 mem\n  4 ttyS\n  5 /dev/tty\n  5 /dev/console\n\nBlock devices:\n")
	p.sysctl(t)
	for _, name := range []string{"faults", "syscalls", "times", "memory", "all"} {
		t.Text(t.Dir(root, "leveret"), name, func(*vfs.Caller) []byte { return m.Account(name) })
	}
	t.Text(t.Dir(root, "leveret"), "services", servicesText)
	return fs
}

// servicesText is what services themselves use.
func servicesText(*vfs.Caller) []byte {
	var g debug.GCStats
	debug.ReadGCStats(&g)
	return fmt.Appendf(nil, "collections %d\npause_ns %d\n", g.NumGC, int64(g.PauseTotal))
}

func (p *proc) sysctl(t pseudo.Tree) {
	sys := t.Dir(t.FS.Root, "sys")
	kernel, vm := t.Dir(sys, "kernel"), t.Dir(sys, "vm")
	t.Text(kernel, "hostname", func(*vfs.Caller) []byte { return []byte(p.k.Name() + "\n") })
	random := t.Dir(kernel, "random")
	t.Text(random, "uuid", func(*vfs.Caller) []byte { return p.uuid() })
	boot := p.uuid()
	t.Text(random, "boot_id", func(*vfs.Caller) []byte { return boot })
	for _, s := range [...]struct {
		dir         *vfs.Entry
		name, value string
	}{
		{kernel, "ostype", "Linux"}, {kernel, "osrelease", calls.Release}, {kernel, "version", calls.Version}, {kernel, "pid_max", "32768"}, {kernel, "threads-max", "32768"},
		{kernel, "cap_last_cap", "40"}, {kernel, "ngroups_max", "1024"}, {kernel, "randomize_va_space", "0"}, {kernel, "sched_rr_timeslice_ms", "100"},
		{random, "entropy_avail", "256"}, {random, "poolsize", "256"},
		{vm, "overcommit_memory", "0"}, {vm, "overcommit_ratio", "50"}, {vm, "max_map_count", "65530"}, {vm, "mmap_min_addr", "65536"}, {vm, "swappiness", "60"}, {vm, "nr_hugepages", "0"},
		{t.Dir(sys, "fs"), "pipe-max-size", "1048576"}, {t.Dir(sys, "fs"), "nr_open", "1048576"}, {t.Dir(sys, "fs"), "file-max", strconv.FormatInt(p.k.MaxFiles, 10)},
		{t.Path(sys, "fs", "epoll"), "max_user_watches", "65536"},
		{t.Path(sys, "net", "core"), "somaxconn", "4096"},
	} {
		t.String(s.dir, s.name, s.value+"\n")
	}
}

func (p *proc) uuid() []byte {
	var b [16]byte
	p.k.Machine.Random(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Appendf(nil, "%x-%x-%x-%x-%x\n", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func (p *proc) meminfo(*vfs.Caller) []byte {
	var m abi.MemoryInfo
	p.m.Memory(&m)
	var b bytes.Buffer
	for _, l := range [...]struct {
		name  string
		bytes uint64
	}{{"MemTotal", m.Total}, {"MemFree", m.Free}, {"MemAvailable", m.Free}, {"Buffers", 0}, {"Cached", m.Objects}, {"SwapCached", 0}, {"Active", m.Anonymous + m.Objects}, {"Inactive", 0},
		{"SwapTotal", 0}, {"SwapFree", 0}, {"Dirty", 0}, {"Writeback", 0}, {"AnonPages", m.Anonymous}, {"Mapped", m.Objects}, {"Shmem", m.Objects}, {"Slab", m.Kernel}, {"KernelStack", 0},
		{"PageTables", m.PageTables}, {"CommitLimit", m.Total}, {"Committed_AS", m.Anonymous}, {"AnonHugePages", m.Huge}, {"Hugepagesize", 2 << 20}} {
		fmt.Fprintf(&b, "%-16s%8d kB\n", l.name+":", l.bytes>>10)
	}
	return b.Bytes()
}

func (p *proc) uptime(*vfs.Caller) []byte {
	n := p.m.Monotonic() / 1e7
	return fmt.Appendf(nil, "%d.%02d %d.%02d\n", n/100, n%100, 0, 0)
}

func (p *proc) loadavg(*vfs.Caller) []byte {
	var info abi.ProcessInfo
	threads := uint32(1)
	if p.m.Process(1, &info) == 0 {
		threads = info.Threads
	}
	return fmt.Appendf(nil, "0.00 0.00 0.00 1/%d %d\n", threads, 1)
}

func (p *proc) stat(*vfs.Caller) []byte {
	var b bytes.Buffer
	b.WriteString("cpu  0 0 0 0 0 0 0 0 0 0\n")
	for i := range p.o.CPUs {
		fmt.Fprintf(&b, "cpu%d 0 0 0 0 0 0 0 0 0 0\n", i)
	}
	fmt.Fprintf(&b, "intr 0\nctxt 0\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\n", (p.k.NS.Now()-p.m.Monotonic())/1e9, p.k.Processes())
	return b.Bytes()
}

func (p *proc) vmstat(*vfs.Caller) []byte {
	var m abi.MemoryInfo
	p.m.Memory(&m)
	return fmt.Appendf(nil, "nr_free_pages %d\nnr_anon_pages %d\nnr_file_pages %d\n", m.Free>>12, m.Anonymous>>12, m.Objects>>12)
}

// NewSys makes /sys with what programs look for there. setHuge, if not nil, is
// told the mode that was written to transparent_hugepage/enabled: 0 never, 1
// madvise, 2 always.
func NewSys(dev uint64, cpus int, setHuge func(mode uint64), now int64) *vfs.FileSystem {
	fs := vfs.NewFileSystem("sysfs", dev, sysMagic, nil, now)
	fs.Fixed, fs.Options = true, "rw,nosuid,nodev,noexec,noatime"
	fs.Root.Inode().Seed(0o555, 0, 0, now)
	t := pseudo.Tree{FS: fs, Now: now}
	mm := t.Path(fs.Root, "kernel", "mm", "transparent_hugepage")
	thp := "madvise"
	var mu sync.Mutex
	t.Node(mm, "enabled", unix.S_IFREG|0o644, pseudo.Setting{Read: func(*vfs.Caller) []byte {
		mu.Lock()
		defer mu.Unlock()
		return choice(thp, "always", "madvise", "never")
	}, Write: func(_ *vfs.Caller, b []byte) Errno {
		s := strings.TrimSpace(string(b))
		if s != "always" && s != "madvise" && s != "never" {
			return unix.EINVAL
		}
		mu.Lock()
		defer mu.Unlock()
		if setHuge != nil {
			setHuge(map[string]uint64{"never": 0, "madvise": 1, "always": 2}[s])
		}
		thp = s
		return 0
	}})
	t.String(mm, "defrag", "always defer defer+madvise [madvise] never\n")
	t.String(mm, "hpage_pmd_size", "2097152\n")
	t.String(mm, "shmem_enabled", "always within_size advise [never] deny force\n")
	t.String(mm, "use_zero_page", "0\n")
	cpu := t.Path(fs.Root, "devices", "system", "cpu")
	all := "0"
	if cpus > 1 {
		all = fmt.Sprintf("0-%d", cpus-1)
	}
	for _, name := range []string{"online", "possible", "present"} {
		t.String(cpu, name, all+"\n")
	}
	t.String(cpu, "offline", "\n")
	t.String(cpu, "kernel_max", "63\n")
	for i := range cpus {
		c := t.Dir(cpu, fmt.Sprintf("cpu%d", i))
		top := t.Dir(c, "topology")
		t.String(top, "core_id", fmt.Sprintf("%d\n", i))
		t.String(top, "physical_package_id", "0\n")
		t.String(top, "thread_siblings_list", fmt.Sprintf("%d\n", i))
		t.String(top, "core_siblings_list", all+"\n")
	}
	node := t.Path(fs.Root, "devices", "system", "node")
	t.String(node, "online", "0\n")
	t.String(node, "possible", "0\n")
	t.String(t.Dir(node, "node0"), "cpulist", all+"\n")
	for _, d := range []string{"block", "bus", "class", "dev", "firmware", "fs", "module"} {
		t.Dir(fs.Root, d)
	}
	t.Path(fs.Root, "fs", "cgroup")
	return fs
}

// choice is a list with the chosen word in brackets.
func choice(chosen string, words ...string) []byte {
	var b []byte
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		if w == chosen {
			w = "[" + w + "]"
		}
		b = append(b, w...)
	}
	return append(b, '\n')
}
