// Package host says what machine measurements are taken on.
package host

import (
	"os"
	"runtime"
	"strings"
)

// CPUInfo returns a value of the first processor's in /proc/cpuinfo, "" where
// there is none.
func CPUInfo(name string) string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if n, value, _ := strings.Cut(line, ":"); strings.TrimSpace(n) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Processor returns the model name of the first processor, or what the system
// calls its architecture.
func Processor() string {
	if model := CPUInfo("model name"); model != "" {
		return model
	}
	return runtime.GOARCH
}
