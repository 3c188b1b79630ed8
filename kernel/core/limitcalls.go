//go:build amd64

package main

// Limits(pid).
func hyperLimits(c *CPU, t *Thread) {
	t.AX = eSRCH
	if p := findProcess(uint32(t.DI)); p != nil {
		t.AX = addressOf(&p.limits)
	}
}
