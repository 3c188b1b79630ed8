//go:build amd64

package main

import "golang.org/x/sys/unix"

// limitsChanged tells the address space of p the limits that concern it.
func (p *Process) limitsChanged() {
	if p.as == nil || p.ring0 {
		return
	}
	l := &p.as.Limits
	l.AddressSpace = p.limits[unix.RLIMIT_AS].Cur
	l.Data = p.limits[unix.RLIMIT_DATA].Cur
	l.Stack = p.limits[unix.RLIMIT_STACK].Cur
	l.Locked = p.limits[unix.RLIMIT_MEMLOCK].Cur
}
