package kernels

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// tscKHz is the rate of the host's time stamp counter as the kernel found it,
// which is the guest's too.
func tscKHz() (int, error) {
	v := cpuinfo("cpu MHz")
	if v == "" {
		return 0, fmt.Errorf("/proc/cpuinfo names no cpu MHz (%s/%s)", runtime.GOOS, runtime.GOARCH)
	}
	mhz, err := strconv.ParseFloat(v, 64)
	return int(mhz * 1000), err
}

// cpuinfo is a value of the first processor's in /proc/cpuinfo, "" when there
// is none.
func cpuinfo(name string) string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if n, value, _ := strings.Cut(line, ":"); strings.TrimSpace(n) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// host says what all was measured on.
func host() string {
	emulator, _ := exec.Command("qemu-system-x86_64", "--version").Output()
	version, _, _ := strings.Cut(string(emulator), "\n")
	version = strings.TrimPrefix(version, "QEMU emulator version ")
	model := cpuinfo("model name")
	if model == "" {
		model = runtime.GOARCH
	}
	return fmt.Sprintf("Host: %s, %d processors, QEMU %s.", model, runtime.NumCPU(), version)
}
