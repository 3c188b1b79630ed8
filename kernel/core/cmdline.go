//go:build amd64

package main

// parseCmdline reads the words of the command line at p.
func parseCmdline(p uint64) {
	for i := 0; i < 4096; i++ {
		if rd8(p) == 0 {
			return
		}
		if match(p, "trace") {
			traceSys = true
		}
		p++
	}
}
