package procfs

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/pseudo"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Inode numbers of what belongs to a process: the id, then what it is.
func inode(id uint32, what int) uint64 { return 1<<40 | uint64(id)<<20 | uint64(what) }

func number(name []byte) (uint32, bool) {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(name), 10, 31)
	return uint32(n), err == nil
}

// Child implements vfs.Lister: a process by its id.
func (p *proc) Child(c *vfs.Caller, dir *vfs.Inode, name []byte) (*vfs.Inode, Errno) {
	pid, ok := number(name)
	if !ok {
		return nil, unix.ENOENT
	}
	q := p.k.ByPID(pid)
	if q == nil {
		return nil, unix.ENOENT
	}
	return p.fs.MakeNode(unix.S_IFDIR|0o555, inode(pid, 0), &process{p, q, pid, false}, p.k.NS.Now()), 0
}

// List implements vfs.Lister.
func (p *proc) List(c *vfs.Caller, dir *vfs.Inode, from int64, yield func(string, uint64, uint32, int64) bool) {
	for _, pid := range p.k.PIDs() {
		if int64(pid) >= from && !yield(strconv.Itoa(int(pid)), inode(pid, 0), unix.S_IFDIR, int64(pid)+1) {
			return
		}
	}
}

// process is /proc/PID, or with thread set /proc/PID/task/TID.
type process struct {
	*proc
	q      *calls.Process
	tid    uint32
	thread bool
}

// file is a name in such a directory.
type file struct {
	name string
	mode uint32
	node func(p *process) vfs.Node
}

func textFile(name string, f func(p *process) []byte) file {
	return file{name, unix.S_IFREG | 0o444, func(p *process) vfs.Node {
		return pseudo.Text(func(*vfs.Caller) []byte { return f(p) })
	}}
}

func link(name string, to func(p *process) *vfs.Entry) file {
	return file{name, unix.S_IFLNK | 0o777, func(p *process) vfs.Node {
		return pseudo.Magic{NS: p.k.NS, To: func(*vfs.Caller) (*vfs.Entry, Errno) {
			if e := to(p); e != nil {
				return e, 0
			}
			return nil, unix.ENOENT
		}}
	}}
}

var files []file

func init() {
	files = []file{
		textFile("cmdline", func(p *process) []byte {
			return p.area(func(i *abi.ProcessInfo) (a, b uint64) { return i.ArgStart, i.ArgEnd })
		}),
		textFile("environ", func(p *process) []byte {
			return p.area(func(i *abi.ProcessInfo) (a, b uint64) { return i.EnvStart, i.EnvEnd })
		}),
		textFile("auxv", func(p *process) []byte {
			return p.area(func(i *abi.ProcessInfo) (a, b uint64) { return i.AuxStart, i.AuxEnd })
		}),
		textFile("comm", func(p *process) []byte { return append([]byte(p.name()), '\n') }),
		textFile("stat", (*process).statText),
		textFile("statm", (*process).statmText),
		textFile("status", (*process).statusText),
		textFile("limits", (*process).limitsText),
		textFile("maps", func(p *process) []byte { return p.mapsText(false) }),
		textFile("smaps", func(p *process) []byte { return p.mapsText(true) }),
		textFile("mounts", (*process).mountsText),
		textFile("mountinfo", (*process).mountinfoText),
		textFile("cgroup", func(*process) []byte { return []byte("0::/\n") }),
		textFile("oom_score", func(*process) []byte { return []byte("0\n") }),
		textFile("oom_score_adj", func(*process) []byte { return []byte("0\n") }),
		textFile("wchan", func(*process) []byte { return []byte("0") }),
		link("exe", func(p *process) *vfs.Entry { return p.q.Exe }),
		link("cwd", func(p *process) *vfs.Entry { return p.q.Cwd() }),
		link("root", func(p *process) *vfs.Entry { return p.q.Root() }),
		{"fd", unix.S_IFDIR | 0o500, func(p *process) vfs.Node { return descriptors{p, false} }},
		{"fdinfo", unix.S_IFDIR | 0o555, func(p *process) vfs.Node { return descriptors{p, true} }},
		{"task", unix.S_IFDIR | 0o555, func(p *process) vfs.Node { return tasks{p} }},
	}
}

// Child implements vfs.Lister.
func (p *process) Child(c *vfs.Caller, dir *vfs.Inode, name []byte) (*vfs.Inode, Errno) {
	for i, f := range files {
		if f.name == string(name) && !(p.thread && f.name == "task") {
			return p.fs.MakeNode(f.mode, inode(p.tid, i+1), f.node(p), p.k.NS.Now()), 0
		}
	}
	return nil, unix.ENOENT
}

// List implements vfs.Lister.
func (p *process) List(c *vfs.Caller, dir *vfs.Inode, from int64, yield func(string, uint64, uint32, int64) bool) {
	for i, f := range files {
		if int64(i) >= from && !(p.thread && f.name == "task") && !yield(f.name, inode(p.tid, i+1), f.mode, int64(i)+1) {
			return
		}
	}
}

// tasks is /proc/PID/task.
type tasks struct{ *process }

func (t tasks) ids() []uint32 {
	var all []uint32
	var buf [128]uint32
	for after := uint32(0); ; {
		n := t.m.Threads(t.q.PID, after, buf[:])
		if n <= 0 {
			break
		}
		all = append(all, buf[:n]...)
		after = buf[n-1]
	}
	if len(all) == 0 {
		all = []uint32{t.q.PID}
	}
	return all
}

func (t tasks) Child(c *vfs.Caller, dir *vfs.Inode, name []byte) (*vfs.Inode, Errno) {
	tid, ok := number(name)
	if !ok {
		return nil, unix.ENOENT
	}
	for _, id := range t.ids() {
		if id == tid {
			return t.fs.MakeNode(unix.S_IFDIR|0o555, inode(tid, 1000), &process{t.proc, t.q, tid, true}, t.k.NS.Now()), 0
		}
	}
	return nil, unix.ENOENT
}

func (t tasks) List(c *vfs.Caller, dir *vfs.Inode, from int64, yield func(string, uint64, uint32, int64) bool) {
	for _, id := range t.ids() {
		if int64(id) >= from && !yield(strconv.Itoa(int(id)), inode(id, 1000), unix.S_IFDIR, int64(id)+1) {
			return
		}
	}
}

// descriptors is /proc/PID/fd, or fdinfo.
type descriptors struct {
	*process
	info bool
}

func (d descriptors) Child(c *vfs.Caller, dir *vfs.Inode, name []byte) (*vfs.Inode, Errno) {
	fd, ok := number(name)
	if !ok {
		return nil, unix.ENOENT
	}
	f := d.q.Files().Get(uint64(fd))
	if f == nil {
		return nil, unix.ENOENT
	}
	defer f.Close()
	if d.info {
		flags, at := f.Flags(), f.Position()
		mount := f.Inode.FS.ID
		return d.fs.MakeNode(unix.S_IFREG|0o444, inode(d.tid, 1<<19+int(fd)), pseudo.Text(func(*vfs.Caller) []byte {
			return fmt.Appendf(nil, "pos:\t%d\nflags:\t0%o\nmnt_id:\t%d\nino:\t%d\n", at, flags, mount, f.Inode.Ino)
		}), d.k.NS.Now()), 0
	}
	e := f.Entry
	mode := uint32(unix.S_IFLNK)
	if f.Readable() {
		mode |= 0o500
	}
	if f.Writable() {
		mode |= 0o300
	}
	return d.fs.MakeNode(mode, inode(d.tid, 1<<18+int(fd)), pseudo.Magic{NS: d.k.NS, To: func(*vfs.Caller) (*vfs.Entry, Errno) { return e, 0 }}, d.k.NS.Now()), 0
}

func (d descriptors) List(c *vfs.Caller, dir *vfs.Inode, from int64, yield func(string, uint64, uint32, int64) bool) {
	for fd := uint64(from); ; fd++ {
		n, f := d.q.Files().Next(fd)
		if n < 0 {
			return
		}
		f.Close()
		fd = uint64(n)
		mode := uint32(unix.S_IFLNK)
		if d.info {
			mode = unix.S_IFREG
		}
		if !yield(strconv.Itoa(n), inode(d.tid, 1<<18+n), mode, int64(n)+1) {
			return
		}
	}
}

// area reads a stretch of the process's memory, 1 MiB at most.
func (p *process) area(where func(*abi.ProcessInfo) (a, b uint64)) []byte {
	i := p.info()
	a, b := where(&i)
	if b <= a {
		return nil
	}
	buf := make([]byte, min(b-a, 1<<20))
	return buf[:p.m.ReadProcess(p.q.PID, a, buf)]
}

func (p *process) info() (i abi.ProcessInfo) {
	if p.m.Process(p.q.PID, &i) != 0 {
		i = abi.ProcessInfo{PID: p.q.PID, Threads: 1, State: 'R'}
	}
	return i
}

func (p *process) name() string {
	if p.thread {
		var t abi.ThreadInfo
		if p.m.Thread(p.tid, &t) == 0 {
			return cstring(t.Name[:])
		}
	}
	i := p.info()
	if s := cstring(i.Name[:]); s != "" {
		return s
	}
	return p.q.Comm
}

func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
