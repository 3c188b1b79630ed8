package initramfs

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func member(name string, ino, mode, nlink uint32, data string) string {
	s := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00", ino, mode, 0, 7, nlink, 1000, len(data), 0, 1, 5, 1, len(name)+1, 0, name)
	for len(s)%4 != 0 {
		s += "\x00"
	}
	s += data
	for len(s)%4 != 0 {
		s += "\x00"
	}
	return s
}

func TestSeed(t *testing.T) {
	archive := member("bin", 1, unix.S_IFDIR|0o700, 2, "") + member("bin/a", 2, unix.S_IFREG|0o755, 1, "hello") + member("x/y/z", 3, unix.S_IFLNK|0o777, 1, "/bin/a") +
		member("h1", 4, unix.S_IFREG|0o644, 2, "") + member("h2", 4, unix.S_IFREG|0o644, 2, "data") + member("dev", 5, unix.S_IFCHR|0o600, 1, "") + member(trailer, 0, 0, 1, "") +
		"\x00\x00\x00\x00" + member("bin/a", 2, unix.S_IFREG|0o555, 1, "second")
	fs := vfs.NewFileSystem("tmpfs", 1, unix.TMPFS_MAGIC, new(object.Heap), 0)
	if n, err := Seed(fs, []byte(archive), 0); err != nil || n != 7 {
		t.Fatal(n, err)
	}
	ns := vfs.NewNamespace(fs, func() int64 { return 0 })
	c := vfs.Caller{Cred: new(vfs.Cred), Root: fs.Root, Cwd: fs.Root}
	var w vfs.Walk
	stat := func(path string, follow int) (s vfs.Stat, i *vfs.Inode) {
		e, errno := w.Lookup(ns, &c, nil, []byte(path), follow)
		if errno != 0 {
			t.Fatalf("%s: %v", path, errno)
		}
		e.Inode().Stat(&s)
		return s, e.Inode()
	}
	if s, i := stat("/x/y/z", vfs.Follow); s.Mode != unix.S_IFREG|0o555 || s.Size != 6 || s.GID != 7 || s.Mtime != 1000e9 {
		t.Errorf("/x/y/z: %+v", s)
	} else {
		b := make([]byte, 10)
		if n, _ := i.Data.ReadAt(b, 0); string(b[:n]) != "second" {
			t.Errorf("contents %q", b[:n])
		}
	}
	if s, _ := stat("/bin", 0); s.Mode != unix.S_IFDIR|0o700 || s.Nlink != 2 {
		t.Errorf("/bin: %+v", s)
	}
	a, _ := stat("/h1", 0)
	b, _ := stat("/h2", 0)
	if a.Ino != b.Ino || a.Nlink != 2 || a.Size != 4 {
		t.Errorf("hard links: %+v and %+v", a, b)
	}
	if s, _ := stat("/dev", 0); s.Rdev != unix.Mkdev(5, 1) || s.Mode != unix.S_IFCHR|0o600 {
		t.Errorf("/dev: %+v", s)
	}
	if s, _ := stat("/", 0); s.Nlink != 4 { // bin, x
		t.Errorf("/: %+v", s)
	}
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(member("a", 1, unix.S_IFREG, 1, "data") + member(trailer, 0, 0, 1, "")))
	f.Add([]byte("070701"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for e, err := range Entries(b) {
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			if len(e.Name) > len(b) || len(e.Data) > len(b) {
				t.Fatal("a member larger than the archive")
			}
		}
		fs := vfs.NewFileSystem("tmpfs", 1, unix.TMPFS_MAGIC, new(object.Heap), 0)
		Seed(fs, b, 0)
	})
}
