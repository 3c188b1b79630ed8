package native

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Jiffies are counts of /proc/stat's first line (proc_stat(5)), of all
// processors together, in units of 1/100 s.
type jiffies struct {
	busy int64 // everything but idle and waiting for I/O; stolen time too
}

// perSecond is USER_HZ, which the kernel has fixed at 100 on every architecture
// that Leveret runs on.
const perSecond = 100

var errStat = errors.New("/proc/stat: no line of all processors")

// parseStat reads the first line of /proc/stat: "cpu user nice system idle
// iowait irq softirq steal guest guest_nice", guests being among user.
func parseStat(b []byte) (jiffies, error) {
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) < 9 || string(f[0]) != "cpu" {
			continue
		}
		var j jiffies
		for i, field := range f[1:9] {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil || n < 0 {
				return jiffies{}, fmt.Errorf("/proc/stat: %q is no count", field)
			}
			if i != 3 && i != 4 {
				j.busy += n
			}
		}
		return j, nil
	}
	return jiffies{}, errStat
}

func readStat() (jiffies, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return jiffies{}, err
	}
	return parseStat(b)
}

// others returns how many processors others than us kept busy between two
// readings: all busy time less our own. The counts are of whole jiffies, so
// short times give rough answers.
func others(before, after jiffies, own, wall time.Duration) float64 {
	if wall <= 0 {
		return 0
	}
	busy := float64(after.busy-before.busy) / perSecond
	return max(0, (busy-own.Seconds())/wall.Seconds())
}

// spin is a fixed amount of work that touches no memory. It takes longer when
// the processor is slower or not ours all the time, which /proc/stat need not
// know in a virtual machine.
func spin(loops int) (time.Duration, uint64) {
	start := time.Now()
	x := uint64(1)
	for range loops {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return time.Since(start), x
}
