//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
)

// capable tells whether t may do what needs a capability.
func (t *Thread) capable() bool { return t.process.cred.EUID == 0 }

// Credentials(pid, address, n).
func hyperCredentials(c *CPU, t *Thread) {
	p := findProcess(uint32(t.DI))
	if p == nil {
		t.AX = eSRCH
		return
	}
	var n abi.Credentials
	if !copyIn(c, unsafe.Pointer(&n), t.SI, 32) {
		t.AX = eFAULT
		return
	}
	o := &p.cred
	if o.EUID != n.EUID || o.EGID != n.EGID || o.FSUID != n.FSUID || o.FSGID != n.FSGID {
		p.dumpable = 0 // suid_dumpable (proc(5)); and prctl(2), PR_SET_PDEATHSIG
		for x := p.first; x != nil; x = x.groupNext {
			x.pdeathsig = 0
		}
	}
	o.UID, o.EUID, o.SUID, o.FSUID = n.UID, n.EUID, n.SUID, n.FSUID
	o.GID, o.EGID, o.SGID, o.FSGID = n.GID, n.EGID, n.SGID, n.FSGID
	if p.as != nil {
		p.as.Privileged = n.EUID == 0
	}
	t.AX = 0
}

func sysGetuid(c *CPU, t *Thread)  { t.AX = uint64(t.process.cred.UID) }
func sysGeteuid(c *CPU, t *Thread) { t.AX = uint64(t.process.cred.EUID) }
func sysGetgid(c *CPU, t *Thread)  { t.AX = uint64(t.process.cred.GID) }
func sysGetegid(c *CPU, t *Thread) { t.AX = uint64(t.process.cred.EGID) }

// sysGetresuid: getresuid(2).
func sysGetresuid(c *CPU, t *Thread) {
	o := &t.process.cred
	threeIDs(c, t, o.UID, o.EUID, o.SUID)
}

// sysGetresgid: getresgid(2).
func sysGetresgid(c *CPU, t *Thread) {
	o := &t.process.cred
	threeIDs(c, t, o.GID, o.EGID, o.SGID)
}

func threeIDs(c *CPU, t *Thread, real, effective, saved uint32) {
	t.AX = 0
	if !write32(c, t.DI, real) || !write32(c, t.SI, effective) || !write32(c, t.DX, saved) {
		t.AX = eFAULT
	}
}

const allCapabilities = 1<<41 - 1

// sysCapget: capget(2). User 0 has all capabilities; who still has it as the
// real or saved id is permitted them.
func sysCapget(c *CPU, t *Thread) {
	v, ok := read32(c, t.DI)
	if !ok {
		t.AX = eFAULT
		return
	}
	const v1, v2, v3 = 0x19980330, 0x20071026, 0x20080522
	words := uint64(2)
	switch v {
	case v1:
		words = 1
	case v2, v3:
	default:
		t.AX = 0
		if !write32(c, t.DI, v3) {
			t.AX = eFAULT
		} else if t.SI != 0 {
			t.AX = eINVAL
		}
		return
	}
	pid, ok := read32(c, t.DI+4)
	if !ok {
		t.AX = eFAULT
		return
	}
	if int32(pid) < 0 {
		t.AX = eINVAL
		return
	}
	if t.SI == 0 {
		t.AX = 0
		return
	}
	target := threadArg(t, uint64(pid))
	if target == nil {
		return
	}
	o := &target.process.cred
	var effective, permitted uint64
	if o.EUID == 0 {
		effective = allCapabilities
	}
	if o.UID == 0 || o.EUID == 0 || o.SUID == 0 {
		permitted = allCapabilities
	}
	caps := [6]uint32{uint32(effective), uint32(permitted), 0, uint32(effective >> 32), uint32(permitted >> 32), 0}
	t.AX = 0
	if !copyOut(c, t.SI, unsafe.Pointer(&caps), 12*words) {
		t.AX = eFAULT
	}
}
