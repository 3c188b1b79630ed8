package vfs

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// Flags of Walk.Lookup, and what openat2(2) asks of a walk.
const (
	Follow    = 1 << iota // a symbolic link at the end
	Directory             // the end has to be one
	NoXDev                // RESOLVE_NO_XDEV
	NoMagic               // RESOLVE_NO_MAGICLINKS
	NoLinks               // RESOLVE_NO_SYMLINKS
	Beneath               // RESOLVE_BENEATH
	InRoot                // RESOLVE_IN_ROOT
)

// maxLinks is how many symbolic links one walk follows: MAXSYMLINKS.
const maxLinks = 40

// What the last component of a path is.
const (
	lastNormal = iota
	lastDot
	lastDotDot
	lastRoot // there is none: "/" alone
)

// A Walk resolves paths. It is a handler's own and used again and again, so
// that a walk allocates nothing; the zero value is ready.
type Walk struct {
	ns     *Namespace
	c      *Caller
	flags  int
	at     *Entry
	top    *Entry // the root for this walk
	jumped bool   // to a file that need not be a directory (magic link)
	links  int

	// The last component, after parent().
	last  []byte
	kind  int
	slash bool // slashes follow it

	stack [maxLinks + 1][]byte
}

// start sets the walk up at a directory, or at the root for absolute paths.
// dir nil is the caller's working directory.
func (w *Walk) start(ns *Namespace, c *Caller, dir *Entry, path []byte, flags int) ([]byte, Errno) {
	w.ns, w.c, w.flags, w.links, w.jumped = ns, c, flags, 0, false
	if dir == nil {
		dir = c.Cwd
	}
	w.top, w.at = c.Root, dir
	if flags&(Beneath|InRoot) != 0 {
		w.top = dir
	}
	if len(path) > 0 && path[0] == '/' {
		if flags&Beneath != 0 {
			return nil, unix.EXDEV
		}
		w.at = w.top
		return path, 0
	}
	if len(path) > 0 && !dir.inode.IsDir() {
		return nil, unix.ENOTDIR
	}
	return path, 0
}

// parent walks to the directory of the last component, which it leaves in
// last, kind and slash (link_path_walk of Linux).
func (w *Walk) parent(path []byte) Errno {
	w.kind, w.last, w.slash = lastRoot, nil, false
	path = bytes.TrimLeft(path, "/")
	if len(path) == 0 {
		return 0
	}
	depth := 0
	for {
		if e := w.c.Cred.May(w.at.inode, MayExec); e != 0 {
			return e
		}
		n := bytes.IndexByte(path, '/')
		rest := []byte(nil)
		if n < 0 {
			n = len(path)
		} else {
			rest = bytes.TrimLeft(path[n:], "/")
		}
		w.last, w.slash = path[:n], n < len(path)
		switch {
		case n == 1 && path[0] == '.':
			w.kind = lastDot
		case n == 2 && path[0] == '.' && path[1] == '.':
			w.kind = lastDotDot
		default:
			w.kind = lastNormal
		}
		var link []byte
		var e Errno
		if len(rest) == 0 {
			if depth == 0 {
				return 0
			}
			depth--
			rest = w.stack[depth]
			link, e = w.step(true)
		} else {
			link, e = w.step(true)
		}
		if e != 0 {
			return e
		}
		if link != nil {
			w.stack[depth] = rest
			depth++
			path = link
			continue
		}
		if !w.at.inode.IsDir() {
			return unix.ENOTDIR
		}
		path = rest
	}
}

// step goes on by the last component. A symbolic link that is to be followed
// comes back as its text, less leading slashes, with at set to where that
// starts; nil means that the step is done.
func (w *Walk) step(follow bool) (link []byte, errno Errno) {
	switch w.kind {
	case lastRoot, lastDot:
		return nil, 0
	case lastDotDot:
		return nil, w.dotdot()
	}
	e, errno := w.at.child(w.c, w.last)
	if errno != 0 {
		return nil, errno
	}
	return w.into(e, follow)
}

func (w *Walk) dotdot() Errno {
	if w.at == w.top {
		if w.flags&Beneath != 0 {
			return unix.EXDEV
		}
		return 0
	}
	up := w.at.up()
	if w.flags&NoXDev != 0 && up.inode.FS != w.at.inode.FS {
		return unix.EXDEV
	}
	w.at = up.down()
	return 0
}

// into enters what a lookup found.
func (w *Walk) into(e *Entry, follow bool) (link []byte, errno Errno) {
	if e.mounted != nil {
		if w.flags&NoXDev != 0 {
			return nil, unix.EXDEV
		}
		e = e.down()
	}
	if !follow || !e.inode.IsLink() {
		w.at = e
		return nil, 0
	}
	w.links++
	if w.links > maxLinks || w.flags&NoLinks != 0 {
		return nil, unix.ELOOP
	}
	text := e.inode.target
	if l, ok := e.inode.Node.(Linker); ok {
		to, errno := l.Jump(w.c, e.inode)
		if errno != 0 {
			return nil, errno
		}
		if to != nil {
			if w.flags&NoMagic != 0 {
				return nil, unix.ELOOP
			}
			if w.flags&(Beneath|InRoot) != 0 || w.flags&NoXDev != 0 && to.inode.FS != e.inode.FS {
				return nil, unix.EXDEV
			}
			w.at = to
			return nil, 0
		}
		if text, errno = l.Target(w.c, e.inode); errno != 0 {
			return nil, errno
		}
	}
	if len(text) == 0 {
		return nil, unix.ENOENT
	}
	if text[0] == '/' {
		if w.flags&Beneath != 0 {
			return nil, unix.EXDEV
		}
		if w.flags&NoXDev != 0 && w.top.inode.FS != w.at.inode.FS {
			return nil, unix.EXDEV
		}
		w.at = w.top
		if text = bytes.TrimLeft(text, "/"); len(text) == 0 {
			return nil, 0
		}
	}
	return text, 0
}

// walk resolves a whole path. The namespace is locked.
func (w *Walk) walk(path []byte) Errno {
	for {
		if e := w.parent(path); e != 0 {
			return e
		}
		if w.kind == lastNormal && w.slash {
			w.flags |= Follow | Directory
		}
		link, e := w.step(w.flags&Follow != 0)
		if e != 0 {
			return e
		}
		if link == nil {
			break
		}
		path = link
	}
	if w.flags&Directory != 0 && !w.at.inode.IsDir() {
		return unix.ENOTDIR
	}
	return 0
}

// Lookup resolves a path that begins at dir (nil: the working directory),
// with Follow, Directory and the RESOLVE flags. An empty path is ENOENT.
func (w *Walk) Lookup(ns *Namespace, c *Caller, dir *Entry, path []byte, flags int) (*Entry, Errno) {
	if len(path) == 0 {
		return nil, unix.ENOENT
	}
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	path, e := w.start(ns, c, dir, path, flags)
	if e != 0 {
		return nil, e
	}
	if e := w.walk(path); e != 0 {
		return nil, e
	}
	return w.at, 0
}

// toParent resolves all but the last component. The namespace is locked.
func (w *Walk) toParent(ns *Namespace, c *Caller, dir *Entry, path []byte) Errno {
	if len(path) == 0 {
		return unix.ENOENT
	}
	path, e := w.start(ns, c, dir, path, 0)
	if e != 0 {
		return e
	}
	return w.parent(path)
}

// Path is the absolute path of e as the caller sees it, appended to buf, with
// " (deleted)" after it when it has no name any more (as d_path of Linux).
func (ns *Namespace) Path(buf []byte, e, root *Entry) []byte {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	return ns.appendPath(buf, e, root)
}

// Reachable reports whether e lies under root, and still has a name.
func (ns *Namespace) Reachable(e, root *Entry) (reached, removed bool) {
	ns.mu.RLock()
	defer ns.mu.RUnlock()
	removed = e.removed
	for e != root {
		up := e.up()
		if up == e {
			return false, removed
		}
		e = up
	}
	return true, removed
}

func (ns *Namespace) appendPath(buf []byte, e, root *Entry) []byte {
	var chain [64]*Entry
	names := chain[:0]
	if root == nil {
		root = ns.root
	}
	removed := e.removed
	for e != root && e != ns.root {
		for e.isRoot() && e.inode.FS != nil && e.inode.FS.at != nil && e.inode.FS.Root == e {
			e = e.inode.FS.at
		}
		if e.isRoot() { // an anonymous file: its name is its path
			buf = append(buf, e.name...)
			break
		}
		names = append(names, e)
		e = e.parent
		if e != root && e.mounted != nil && e.mounted.Root == root {
			break
		}
	}
	if len(names) == 0 && len(buf) == 0 {
		buf = append(buf, '/')
	}
	for i := len(names) - 1; i >= 0; i-- {
		buf = append(append(buf, '/'), names[i].name...)
	}
	if removed {
		buf = append(buf, " (deleted)"...)
	}
	return buf
}
