// Command stream maps the file /data/weights, reads all of it once, and says
// what the system had to give for that. With the argument lock it locks the
// mapping first.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	f, err := os.Open("/data/weights")
	check(err)
	info, err := f.Stat()
	check(err)
	before, faultsBefore := freeKiB(), faults()
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	check(err)
	if len(os.Args) > 1 && os.Args[1] == "lock" {
		check(unix.Mlock(data))
		resident := make([]byte, (len(data)+4095)/4096)
		check(mincore(data, resident))
		n := 0
		for _, b := range resident {
			n += int(b & 1)
		}
		fmt.Println("resident", n, "of", len(resident))
	}
	sum := uint64(0)
	for i := 0; i+8 <= len(data); i += 64 {
		sum += binary.LittleEndian.Uint64(data[i:])
	}
	fmt.Println("faults", faults()-faultsBefore)
	fmt.Println("sum", sum)
	fmt.Println("taken", before-freeKiB(), "KiB")
}

func faults() int64 {
	var u unix.Rusage
	check(unix.Getrusage(unix.RUSAGE_SELF, &u))
	return u.Minflt + u.Majflt
}

func freeKiB() (n int) {
	text, err := os.ReadFile("/proc/meminfo")
	check(err)
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "MemFree: %d kB", &n); err == nil {
			return n
		}
	}
	panic("/proc/meminfo has no MemFree")
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
