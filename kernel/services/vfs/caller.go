package vfs

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Cred is who acts, for permissions. It is never changed once it is shared.
type Cred struct {
	UID, EUID, SUID, FSUID uint32
	GID, EGID, SGID, FSGID uint32
	Groups                 []uint32
}

// Privileged reports whether the file permissions do not bind: CAP_DAC_OVERRIDE
// and its kin, which go with user 0.
func (c *Cred) Privileged() bool { return c.FSUID == 0 }

// InGroup reports whether g is the group or one of the further ones.
func (c *Cred) InGroup(g uint32) bool { return c.FSGID == g || slices.Contains(c.Groups, g) }

// A Caller is on whose behalf a path is walked or a node is opened.
type Caller struct {
	PID, TID uint32
	Cred     *Cred
	Umask    uint32
	Root     *Entry // of chroot(2)
	Cwd      *Entry
	// Process is the caller's own state, for nodes that know its type.
	Process any
}

// What May asks for.
const (
	MayExec  = 1
	MayWrite = 2
	MayRead  = 4
)

// May checks the permission bits: EACCES, as generic_permission of Linux has
// it.
func (c *Cred) May(i *Inode, want uint32) Errno {
	i.mu.Lock()
	mode, uid, gid := i.mode, i.uid, i.gid
	i.mu.Unlock()
	bits := mode
	switch {
	case uid == c.FSUID:
		bits >>= 6
	case c.InGroup(gid):
		bits >>= 3
	}
	if want&^bits&7 == 0 {
		return 0
	}
	if c.Privileged() && (want&MayExec == 0 || mode&unix.S_IFMT == unix.S_IFDIR || mode&0o111 != 0) {
		return 0
	}
	return unix.EACCES
}

// Owns reports whether c may change what only an owner may.
func (c *Cred) Owns(i *Inode) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return c.Privileged() || c.FSUID == i.uid
}
