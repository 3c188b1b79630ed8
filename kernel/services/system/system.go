// Package system puts the parts together: the root file system from the
// archive, /dev, /proc, /sys, and a kernel that serves calls on them.
package system

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/devices"
	"github.com/leveret-os/leveret/kernel/services/initramfs"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/procfs"
	"github.com/leveret-os/leveret/kernel/services/pseudo"
	"github.com/leveret-os/leveret/kernel/services/tty"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// A Machine is core, for all parts.
type Machine interface {
	calls.Machine
	procfs.Machine
}

// Options say what to start with.
type Options struct {
	Machine     Machine
	Store       object.Store
	Line        tty.Line // the console
	Archive     []byte   // the initramfs
	CommandLine string
	CPUs        int
	// Memory is the bytes of the machine, from which the limits come.
	Memory int64
	Now    func() int64 // ns since 1970
	// SetHuge changes how anonymous memory gets 2 MiB pages: 0 never, 1 where
	// a program asks, 2 always. It may be nil.
	SetHuge func(mode uint64)
}

// Limits that follow from the machine's memory: services keep about 400 bytes
// of their own for an inode with its name, and 200 for an open file.
func (o *Options) limits() (inodes, files int64) {
	return max(o.Memory>>13, 4096), max(o.Memory>>14, 4096)
}

// New makes the kernel. An archive that is broken part-way serves what came
// before the fault, and the error says where that is.
func New(o Options) (*calls.Kernel, error) {
	now := o.Now()
	root := vfs.NewFileSystem("rootfs", 0x2, unix.TMPFS_MAGIC, o.Store, now)
	inodes, files := o.limits()
	root.MaxInodes = inodes
	root.Space = func() (int64, int64) { return space(o.Machine) }
	_, err := initramfs.Seed(root, o.Archive, now)
	t := pseudo.Tree{FS: root, Now: now}
	for _, name := range []string{"dev", "proc", "sys", "tmp", "root", "etc"} {
		if e := root.Root.Child(name); e == nil {
			t.Dir(root.Root, name).Inode().Seed(0o755, 0, 0, now)
		}
	}
	if e := root.Root.Child("tmp"); e.Inode().IsDir() {
		e.Inode().Seed(0o1777, 0, 0, now)
	}
	ns := vfs.NewNamespace(root, o.Now)
	set := devices.Memory(o.Machine.Random)
	console := tty.New(o.Line)
	for _, d := range []uint64{unix.Mkdev(5, 0), unix.Mkdev(5, 1), unix.Mkdev(4, 64)} {
		set[d] = console
	}
	ns.Devices = set
	k := calls.NewKernel(ns, o.Machine, o.Store)
	k.MaxFiles = files

	minor := uint64(0x15)
	make := func(kind string) *vfs.FileSystem {
		minor++
		switch kind {
		case "tmpfs", "ramfs", "devtmpfs":
			fs := vfs.NewFileSystem(kind, minor, unix.TMPFS_MAGIC, o.Store, o.Now())
			fs.MaxInodes, fs.Space = inodes, root.Space
			fs.Root.Inode().Seed(0o1777, 0, 0, o.Now())
			if kind == "devtmpfs" {
				fillDev(fs, o.Now())
			}
			return fs
		case "proc":
			return procfs.New(minor, k, o.Machine, procfs.Options{CommandLine: o.CommandLine, CPUs: o.CPUs}, o.Now())
		case "sysfs":
			return procfs.NewSys(minor, o.CPUs, o.SetHuge, o.Now())
		}
		minor--
		return nil
	}
	k.NewFileSystem = make
	for _, m := range [...]struct{ at, kind string }{{"dev", "devtmpfs"}, {"proc", "proc"}, {"sys", "sysfs"}} {
		if e := root.Root.Child(m.at); e.Inode().IsDir() {
			ns.Mount(make(m.kind), e)
		}
	}
	if err != nil {
		err = fmt.Errorf("the initramfs: %w", err)
	}
	return k, err
}

func fillDev(fs *vfs.FileSystem, now int64) {
	fs.Root.Inode().Seed(0o755, 0, 0, now)
	t := pseudo.Tree{FS: fs, Now: now}
	for _, d := range devices.Standard {
		i := fs.Make(unix.S_IFCHR|d.Mode, 0, 0, now)
		i.Rdev = unix.Mkdev(d.Major, d.Minor)
		fs.Add(fs.Root, d.Name, i)
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		t.Symlink(fs.Root, name, target)
	}
	t.Dir(fs.Root, "shm").Inode().Seed(0o1777, 0, 0, now)
}

func space(m calls.Machine) (total, free int64) {
	info := memory(m)
	return int64(info.Total), int64(info.Free)
}

// Init makes the first process, with the console at its descriptors 0 to 2.
func Init(k *calls.Kernel, program string) (*calls.Process, error) {
	p := k.NewProcess(1)
	return p, p.OpenStandard("/dev/console", program)
}
