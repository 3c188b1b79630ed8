package calls

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// OpenStandard opens a terminal as descriptors 0, 1 and 2 of a new process,
// and notes its program.
func (p *Process) OpenStandard(terminal, program string) error {
	k := p.Kernel
	var w vfs.Walk
	c := p.fs
	for fd := range 3 {
		f, e := k.NS.Open(&w, &c, nil, []byte(terminal), vfs.How{Flags: unix.O_RDWR})
		if e == 0 {
			k.files.Add(1)
			f.Detach = k.detach
			if _, e = p.files.Reserve(0, 3); e == 0 {
				e = p.files.Install(fd, f, false)
			}
		}
		if e != 0 {
			return fmt.Errorf("%s as descriptor %d: %w", terminal, fd, e)
		}
	}
	exe, e := w.Lookup(k.NS, &c, nil, []byte(program), vfs.Follow)
	if e != 0 {
		return fmt.Errorf("%s: %w", program, e)
	}
	p.Exe = exe
	return nil
}

// Cwd is the working directory, Root the root.
func (p *Process) Cwd() *vfs.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fs.Cwd
}

// Root is the root directory.
func (p *Process) Root() *vfs.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fs.Root
}

// Who is a copy of what the process walks paths with.
func (p *Process) Who() (c vfs.Caller) {
	p.Caller(&c, p.PID)
	return c
}

// PIDs lists the processes in rising order.
func (k *Kernel) PIDs() (list []uint32) {
	k.processes.Range(func(id, _ any) bool {
		list = append(list, id.(uint32))
		return true
	})
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// ObjectName is the path, device and inode number of the file that a memory
// object, mapped by p, is the contents of: of its program, of an open file, or
// of one that was closed since.
func (k *Kernel) ObjectName(p *Process, handle uint64) (path string, dev, ino uint64) {
	e := p.entryOf(handle)
	if e == nil {
		v, _ := k.mapped.Load(handle)
		e, _ = v.(*vfs.Entry)
	}
	if e == nil {
		return "", 0, 0
	}
	return string(k.NS.Path(nil, e, nil)), e.Inode().FS.Dev, e.Inode().Ino
}

func (p *Process) entryOf(handle uint64) *vfs.Entry {
	if p.Exe != nil && p.Exe.Inode().Data != nil && p.Exe.Inode().Data.Handle() == handle {
		return p.Exe
	}
	for fd := uint64(0); ; fd++ {
		n, f := p.files.Next(fd)
		if n < 0 {
			return nil
		}
		e, object := f.Entry, f.Head.Object
		f.Close()
		if object == handle {
			return e
		}
		fd = uint64(n)
	}
}
