package kernels

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/leveret-os/leveret/bench/host"
)

// tscKHz is the rate of the host's time stamp counter as the kernel found it,
// which is the guest's too.
func tscKHz() (int, error) {
	v := host.CPUInfo("cpu MHz")
	if v == "" {
		return 0, fmt.Errorf("/proc/cpuinfo names no cpu MHz (%s/%s)", runtime.GOOS, runtime.GOARCH)
	}
	mhz, err := strconv.ParseFloat(v, 64)
	return int(mhz * 1000), err
}

// machineLine says what all was measured on.
func machineLine() string {
	emulator, _ := exec.Command("qemu-system-x86_64", "--version").Output()
	version, _, _ := strings.Cut(string(emulator), "\n")
	version = strings.TrimPrefix(version, "QEMU emulator version ")
	return fmt.Sprintf("Host: %s, %d processors, QEMU %s.", host.Processor(), runtime.NumCPU(), version)
}
