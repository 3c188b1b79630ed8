package calls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

func sysGetuid(c *Call) int64  { return int64(c.who.Cred.UID) }
func sysGeteuid(c *Call) int64 { return int64(c.who.Cred.EUID) }
func sysGetgid(c *Call) int64  { return int64(c.who.Cred.GID) }
func sysGetegid(c *Call) int64 { return int64(c.who.Cred.EGID) }

const keep = vfs.Keep

// become replaces the credentials by what change makes of a copy.
func (c *Call) become(change func(*vfs.Cred) Errno) int64 {
	n := *c.who.Cred
	if e := change(&n); e != 0 {
		return fail(e)
	}
	ids := abi.Credentials{
		UID: n.UID, EUID: n.EUID, SUID: n.SUID, FSUID: n.FSUID,
		GID: n.GID, EGID: n.EGID, SGID: n.SGID, FSGID: n.FSGID,
	}
	c.P.Update(func(who *vfs.Caller) {
		who.Cred = &n
		c.K.Machine.Credentials(c.P.PID, &ids)
	})
	return 0
}

func sysSetuid(c *Call) int64 {
	id := uint32(c.DI)
	return c.become(func(n *vfs.Cred) Errno {
		switch {
		case id == keep:
			return unix.EINVAL
		case n.EUID == 0:
			n.UID, n.SUID = id, id
		case id != n.UID && id != n.SUID:
			return unix.EPERM
		}
		n.EUID, n.FSUID = id, id
		return 0
	})
}

func sysSetgid(c *Call) int64 {
	id := uint32(c.DI)
	return c.become(func(n *vfs.Cred) Errno {
		switch {
		case id == keep:
			return unix.EINVAL
		case n.EUID == 0:
			n.GID, n.SGID = id, id
		case id != n.GID && id != n.SGID:
			return unix.EPERM
		}
		n.EGID, n.FSGID = id, id
		return 0
	})
}

func sysSetreuid(c *Call) int64 {
	r, e := uint32(c.DI), uint32(c.SI)
	return c.become(func(n *vfs.Cred) Errno {
		old := *n
		free := old.EUID == 0
		if r != keep {
			if !free && r != old.UID && r != old.EUID {
				return unix.EPERM
			}
			n.UID = r
		}
		if e != keep {
			if !free && e != old.UID && e != old.EUID && e != old.SUID {
				return unix.EPERM
			}
			n.EUID = e
		}
		if r != keep || e != keep && e != old.UID {
			n.SUID = n.EUID
		}
		n.FSUID = n.EUID
		return 0
	})
}

func sysSetregid(c *Call) int64 {
	r, e := uint32(c.DI), uint32(c.SI)
	return c.become(func(n *vfs.Cred) Errno {
		old := *n
		free := old.EUID == 0
		if r != keep {
			if !free && r != old.GID && r != old.EGID {
				return unix.EPERM
			}
			n.GID = r
		}
		if e != keep {
			if !free && e != old.GID && e != old.EGID && e != old.SGID {
				return unix.EPERM
			}
			n.EGID = e
		}
		if r != keep || e != keep && e != old.GID {
			n.SGID = n.EGID
		}
		n.FSGID = n.EGID
		return 0
	})
}

// three sets real, effective and saved ids, each within the present ones
// unless the caller is free to choose.
func three(free bool, ids [3]uint32, have [3]uint32, set [3]*uint32) Errno {
	for n, id := range ids {
		if id == keep {
			continue
		}
		if !free && id != have[0] && id != have[1] && id != have[2] {
			return unix.EPERM
		}
		*set[n] = id
	}
	return 0
}

func sysSetresuid(c *Call) int64 {
	ids := [3]uint32{uint32(c.DI), uint32(c.SI), uint32(c.DX)}
	return c.become(func(n *vfs.Cred) Errno {
		e := three(n.EUID == 0, ids, [3]uint32{n.UID, n.EUID, n.SUID}, [3]*uint32{&n.UID, &n.EUID, &n.SUID})
		n.FSUID = n.EUID
		return e
	})
}

func sysSetresgid(c *Call) int64 {
	ids := [3]uint32{uint32(c.DI), uint32(c.SI), uint32(c.DX)}
	return c.become(func(n *vfs.Cred) Errno {
		e := three(n.EUID == 0, ids, [3]uint32{n.GID, n.EGID, n.SGID}, [3]*uint32{&n.GID, &n.EGID, &n.SGID})
		n.FSGID = n.EGID
		return e
	})
}

func sysGetresuid(c *Call) int64 {
	n := c.who.Cred
	return c.putIDs(n.UID, n.EUID, n.SUID)
}

func sysGetresgid(c *Call) int64 {
	n := c.who.Cred
	return c.putIDs(n.GID, n.EGID, n.SGID)
}

func (c *Call) putIDs(r, e, s uint32) int64 {
	for _, p := range [...]struct {
		addr uint64
		id   uint32
	}{{c.DI, r}, {c.SI, e}, {c.DX, s}} {
		if e := usermem.PutUint32(c.Mem, c.buf[:], p.addr, p.id); e != 0 {
			return fail(e)
		}
	}
	return 0
}

func sysSetfsuid(c *Call) int64 {
	old, id := c.who.Cred.FSUID, uint32(c.DI)
	c.become(func(n *vfs.Cred) Errno {
		if n.EUID == 0 || id == n.UID || id == n.EUID || id == n.SUID || id == n.FSUID {
			if id != keep {
				n.FSUID = id
			}
		}
		return 0
	})
	return int64(old)
}

func sysSetfsgid(c *Call) int64 {
	old, id := c.who.Cred.FSGID, uint32(c.DI)
	c.become(func(n *vfs.Cred) Errno {
		if n.EUID == 0 || id == n.GID || id == n.EGID || id == n.SGID || id == n.FSGID {
			if id != keep {
				n.FSGID = id
			}
		}
		return 0
	})
	return int64(old)
}

// maxGroups is NGROUPS_MAX less than Linux's, so that a table of them is
// small: the call says EINVAL beyond, as Linux does beyond its own.
const maxGroups = 1024

func sysGetgroups(c *Call) int64 {
	g := c.who.Cred.Groups
	size := int32(c.DI)
	if size < 0 {
		return fail(unix.EINVAL)
	}
	if size == 0 {
		return int64(len(g))
	}
	if int(size) < len(g) {
		return fail(unix.EINVAL)
	}
	b := c.buf[:4*len(g)]
	for n, id := range g {
		binary.LittleEndian.PutUint32(b[4*n:], id)
	}
	return result(int64(len(g)), usermem.Out(c.Mem, c.SI, b))
}

func sysSetgroups(c *Call) int64 {
	if c.who.Cred.EUID != 0 {
		return fail(unix.EPERM)
	}
	size := uint32(c.DI) // an int of Linux's: the register's upper half says nothing
	if size > maxGroups {
		return fail(unix.EINVAL)
	}
	b := c.buf[:4*size]
	if e := usermem.In(c.Mem, b, c.SI); e != 0 {
		return fail(e)
	}
	g := make([]uint32, size)
	for n := range g {
		g[n] = binary.LittleEndian.Uint32(b[4*n:])
	}
	return c.become(func(n *vfs.Cred) Errno { n.Groups = g; return 0 })
}
