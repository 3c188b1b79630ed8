//go:build !nommap

package safetensors

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// usage adds up /proc/self/smaps (proc_pid_smaps(5)) over the regions.
func usage(regions []*region) (Usage, error) {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return Usage{}, err
	}
	defer file.Close()
	return sumSmaps(bufio.NewScanner(file), func(start, end uint64) bool {
		for _, m := range regions {
			low := uint64(address(m.mapped))
			if start < low+uint64(len(m.mapped)) && low < end {
				return true
			}
		}
		return false
	})
}

// sumSmaps adds up the mappings that ours reports as ours. A line is
// "7f00-7f10 r--p …" for a mapping, then "Rss: 4 kB" for each of its counts.
func sumSmaps(lines *bufio.Scanner, ours func(start, end uint64) bool) (Usage, error) {
	var u Usage
	counting := false
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		key, isCount := strings.CutSuffix(fields[0], ":")
		if !isCount {
			low, high, _ := strings.Cut(fields[0], "-")
			start, err1 := strconv.ParseUint(low, 16, 64)
			end, err2 := strconv.ParseUint(high, 16, 64)
			if err1 != nil || err2 != nil {
				return Usage{}, fmt.Errorf("/proc/self/smaps: no address range in %s", quote(lines.Text()))
			}
			counting = ours(start, end)
			continue
		}
		var sum *int64
		switch key {
		case "Rss":
			sum = &u.Resident
		case "Anonymous":
			sum = &u.Anonymous
		case "AnonHugePages", "FilePmdMapped", "ShmemPmdMapped":
			sum = &u.HugePages
		case "Locked":
			sum = &u.Locked
		}
		if !counting || sum == nil || len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return Usage{}, fmt.Errorf("/proc/self/smaps: %w", err)
		}
		*sum += kib << 10
	}
	return u, lines.Err()
}
