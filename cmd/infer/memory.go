package main

import (
	"bytes"
	"os"
	"strconv"
)

// memory is what the system says of this process, in bytes; zeros where it
// says nothing (proc_pid_status(5)).
type memory struct {
	resident int64 // VmRSS
	peak     int64 // VmHWM: the most that was ever resident
	locked   int64 // VmLck
}

// readMemory reads /proc/self/status.
func readMemory() memory {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return memory{}
	}
	return parseMemory(b)
}

func parseMemory(status []byte) memory {
	var m memory
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		var p *int64
		switch string(key) {
		case "VmRSS":
			p = &m.resident
		case "VmHWM":
			p = &m.peak
		case "VmLck":
			p = &m.locked
		default:
			continue
		}
		number, ok := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
		if n, err := strconv.ParseInt(string(number), 10, 64); ok && err == nil {
			*p = n << 10
		}
	}
	m.peak = max(m.peak, m.resident) // a kernel without VmHWM
	return m
}
