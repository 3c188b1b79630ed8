// Package pseudo helps to make file systems whose contents are computed:
// files that are a text, directories that are a list, links that depend on
// who asks.
package pseudo

import (
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// Errno is 0 for success.
type Errno = vfs.Errno

// Text is a file whose contents a function makes when it is read from the
// start; later reads of one open file go on in the same text.
type Text func(c *vfs.Caller) []byte

// OpenNode implements vfs.Opener.
func (t Text) OpenNode(c *vfs.Caller, _ *vfs.Inode, flags uint32) (vfs.Ops, Errno) {
	return &text{make: t, who: *c}, 0
}

// A Setting is a Text that can be written.
type Setting struct {
	Read func(c *vfs.Caller) []byte
	// Write takes what one write wrote. EINVAL and the like.
	Write func(c *vfs.Caller, b []byte) Errno
}

// OpenNode implements vfs.Opener.
func (s Setting) OpenNode(c *vfs.Caller, _ *vfs.Inode, flags uint32) (vfs.Ops, Errno) {
	return &text{make: s.Read, write: s.Write, who: *c}, 0
}

// maxWrite is the most that one write to a Setting may have, in bytes.
const maxWrite = 4096

type text struct {
	make  func(c *vfs.Caller) []byte
	write func(c *vfs.Caller, b []byte) Errno
	who   vfs.Caller
	made  []byte
	valid bool
}

// Read is called under the position's lock, or by pread: then two readers may
// make the text twice, which does no harm.
func (t *text) Read(f *vfs.File, v *usermem.Vector, off int64) (int64, Errno) {
	b := t.made
	if off == 0 || !t.valid {
		b = t.make(&t.who)
		t.made, t.valid = b, true
	}
	if off >= int64(len(b)) {
		return 0, 0
	}
	n, e := v.Out(b[off:])
	return int64(n), e
}

func (t *text) Write(f *vfs.File, v *usermem.Vector, off int64) (int64, Errno) {
	if t.write == nil {
		return 0, unix.EIO
	}
	b := make([]byte, min(v.Left(), maxWrite))
	n, e := v.In(b)
	if e != 0 {
		return 0, e
	}
	if e := t.write(&t.who, b[:n]); e != 0 {
		return 0, e
	}
	return int64(n), 0
}

// Link is a symbolic link with a computed text.
type Link func(c *vfs.Caller) ([]byte, Errno)

// Target implements vfs.Linker.
func (l Link) Target(c *vfs.Caller, _ *vfs.Inode) ([]byte, Errno) { return l(c) }

// Jump implements vfs.Linker: the text is walked.
func (l Link) Jump(*vfs.Caller, *vfs.Inode) (*vfs.Entry, Errno) { return nil, 0 }

// Magic is a link that leads to an entry, wherever that lies.
type Magic struct {
	// To finds the entry. ENOENT.
	To func(c *vfs.Caller) (*vfs.Entry, Errno)
	NS *vfs.Namespace
}

// Target implements vfs.Linker.
func (m Magic) Target(c *vfs.Caller, _ *vfs.Inode) ([]byte, Errno) {
	e, errno := m.To(c)
	if errno != 0 {
		return nil, errno
	}
	return m.NS.Path(nil, e, c.Root), 0
}

// Jump implements vfs.Linker.
func (m Magic) Jump(c *vfs.Caller, _ *vfs.Inode) (*vfs.Entry, Errno) { return m.To(c) }

// A Tree adds entries to a file system that is being made.
type Tree struct {
	FS  *vfs.FileSystem
	Now int64
}

// Dir makes a directory, or returns the one that is there.
func (t Tree) Dir(parent *vfs.Entry, name string) *vfs.Entry {
	if e := parent.Child(name); e != nil {
		return e
	}
	return t.FS.Add(parent, name, t.FS.Make(unix.S_IFDIR|0o555, 0, 0, t.Now))
}

// Path makes the directories of a path with slashes and returns the last.
func (t Tree) Path(parent *vfs.Entry, names ...string) *vfs.Entry {
	for _, n := range names {
		parent = t.Dir(parent, n)
	}
	return parent
}

// Node enters an inode with behaviour.
func (t Tree) Node(parent *vfs.Entry, name string, mode uint32, node vfs.Node) *vfs.Entry {
	return t.FS.Add(parent, name, t.FS.MakeNode(mode, 0, node, t.Now))
}

// Text enters a file to read.
func (t Tree) Text(parent *vfs.Entry, name string, f func(c *vfs.Caller) []byte) *vfs.Entry {
	return t.Node(parent, name, unix.S_IFREG|0o444, Text(f))
}

// String enters a file whose contents never change.
func (t Tree) String(parent *vfs.Entry, name, s string) *vfs.Entry {
	return t.Text(parent, name, func(*vfs.Caller) []byte { return []byte(s) })
}

// Symlink enters a symbolic link.
func (t Tree) Symlink(parent *vfs.Entry, name, target string) *vfs.Entry {
	i := t.FS.Make(unix.S_IFLNK|0o777, 0, 0, t.Now)
	i.SetTarget([]byte(target))
	return t.FS.Add(parent, name, i)
}
