//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

// trap: every exception and interrupt. t is the current thread (its frame
// was filled by the CPU and trapEntry through IST1), or, for the vectors on
// IST2, just a frame.
func trap(c *CPU, t *Thread) {
	switch t.frame.Vector {
	case 32:
		timerIRQ(c)
		return
	case 14:
		a := x86.ReadCR2()
		inCore := t.frame.CS&3 == 0 && t.frame.IP < 0xffffffff90000000 && t.frame.IP >= coreText
		if !inCore {
			nfault++
			if a < userTop {
				// a supervisor access to a present user page without AC is a bug, not a fault to fix
				if as := t.as; as != nil && (t.frame.CS&3 == 3 || t.frame.Flags&0x40000 != 0) {
					if as.fault(c, a, t.frame.Error) {
						return
					}
				}
			} else if t.frame.CS&3 == 0 && servicesSpace.fault(c, a, t.frame.Error) {
				return
			}
			if t.frame.CS&3 == 0 && t.frame.IP >= fixLo && t.frame.IP < fixHi {
				t.frame.IP = fixPad
				return
			}
			if deliver(c, t, 11, 1, a) {
				return
			}
		}
		crash(c, t, a)
	case 33, 39, 255:
		return
	case 0xfc, 0xfd: // reschedule, flush (already done while taking the lock)
		wr32(lapic+0xb0, 0)
		c.poked = false
		if t.pending&^t.sigmask != 0 {
			sigCheck(c, t)
		}
		if c.cur == c.idleT && runHead != nil {
			schedule(c)
		}
	default:
		crash(c, t, 0)
	}
}
