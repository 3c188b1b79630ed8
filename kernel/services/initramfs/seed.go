package initramfs

import (
	"bytes"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Seed makes the files of an archive in a file system that nobody uses yet.
// The bytes of a regular file stay where they are. Directories that the
// archive does not list are made. It returns how many members there were.
func Seed(fs *vfs.FileSystem, archive []byte, now int64) (n int, err error) {
	s := seeder{fs: fs, now: now, links: map[[3]uint32]*vfs.Inode{}}
	for e, err := range Entries(archive) {
		if err != nil {
			return n, err
		}
		s.add(&e)
		n++
	}
	return n, nil
}

type seeder struct {
	fs    *vfs.FileSystem
	now   int64
	links map[[3]uint32]*vfs.Inode // members with several names
}

func (s *seeder) add(e *Entry) {
	name := bytes.Trim(e.Name, "/")
	name = bytes.TrimPrefix(name, []byte("./"))
	root := s.fs.Root
	if len(name) == 0 || string(name) == "." {
		root.Inode().Seed(e.Mode, e.UID, e.GID, int64(e.Mtime)*1e9)
		return
	}
	dir := root
	for {
		i := bytes.IndexByte(name, '/')
		if i < 0 {
			break
		}
		dir = s.directory(dir, string(name[:i]))
		name = bytes.TrimLeft(name[i+1:], "/")
		if dir == nil {
			return
		}
	}
	if string(name) == "." || string(name) == ".." || len(name) > vfs.NameMax {
		return
	}
	s.member(dir, string(name), e)
}

func (s *seeder) directory(dir *vfs.Entry, name string) *vfs.Entry {
	if k := dir.Child(name); k != nil {
		if !k.Inode().IsDir() {
			return nil
		}
		return k
	}
	return s.fs.Add(dir, name, s.fs.Make(unix.S_IFDIR|0o755, 0, 0, s.now))
}

func (s *seeder) member(dir *vfs.Entry, name string, e *Entry) {
	mtime := int64(e.Mtime) * 1e9
	if k := dir.Child(name); k != nil {
		if k.Inode().IsDir() {
			if e.Mode&unix.S_IFMT == unix.S_IFDIR {
				k.Inode().Seed(e.Mode, e.UID, e.GID, mtime)
			}
			return
		}
		dir.Forget(k) // a later member replaces an earlier one
	}
	key := [3]uint32{e.Major, e.Minor, e.Ino}
	regular := e.Mode&unix.S_IFMT == unix.S_IFREG
	if old := s.links[key]; old != nil && regular && e.Nlink > 1 {
		if len(e.Data) > 0 && old.Data != nil && old.Size() == 0 {
			// The data comes with the last of the names.
			if d, errno := s.fs.Store.InPlace(e.Data, old.Ino); errno == 0 {
				old.Data.Release()
				old.Data = d
				old.Seed(e.Mode, e.UID, e.GID, mtime)
			}
		}
		s.fs.Add(dir, name, old)
		return
	}
	i := s.fs.Make(e.Mode, e.UID, e.GID, s.now)
	switch e.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		d, errno := s.fs.Store.InPlace(e.Data, i.Ino)
		if errno != 0 {
			return
		}
		i.Data = d
		if e.Nlink > 1 {
			s.links[key] = i
		}
	case unix.S_IFLNK:
		i.SetTarget(e.Data)
	case unix.S_IFCHR, unix.S_IFBLK:
		i.Rdev = unix.Mkdev(e.RMajor, e.RMinor)
	case unix.S_IFDIR, unix.S_IFIFO, unix.S_IFSOCK:
	default:
		return
	}
	s.fs.Add(dir, name, i)
	i.Seed(e.Mode, e.UID, e.GID, mtime)
}
