package parallel

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Processors returns how many workers of a pool get a processor each: GOMAXPROCS,
// which the runtime sets by the processors that the process may use and by its
// cgroup's limit on processor time, but for limits below two processors. There
// the runtime keeps two, since its own threads wait more than they compute; two
// workers that compute and spin use up the limit at twice the rate, and then
// stand still together. So such a limit is rounded down, to one.
func Processors() int {
	n := runtime.GOMAXPROCS(0)
	if n == 2 && quota(os.DirFS("/")) < 2 {
		return 1
	}
	return n
}

// quota returns the least limit on processor time, in processors, of the cgroup
// of this process and those above it, +Inf if there is none or it cannot be
// read. root is the root folder of the system. The files are those of the
// kernel's documentation, admin-guide/cgroup-v2.rst and
// scheduler/sched-bwc.rst: cpu.max of version 2, cpu.cfs_quota_us and
// cpu.cfs_period_us of version 1.
func quota(root fs.FS) float64 {
	least := math.Inf(1)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return least
	}
	for line := range bytes.Lines(groups) {
		// hierarchy:controllers:group
		part := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(part) < 3 {
			continue
		}
		kind, limit := "cgroup", limitV1
		if part[0] == "0" && part[1] == "" {
			kind, limit = "cgroup2", limitV2
		} else if !lists(part[1], "cpu") {
			continue
		}
		mount, group := place(string(mounts), kind, part[2])
		if mount == "" {
			continue
		}
		for dir := group; ; dir = path.Dir(dir) {
			least = min(least, limit(root, strings.TrimPrefix(path.Join(mount, dir), "/")))
			if dir == "/" || dir == "." {
				break
			}
		}
	}
	return least
}

// place returns where a hierarchy of that kind is mounted, and the group's path
// below that; "" if it is not. A group outside what is mounted stands for the
// mount itself.
func place(mounts, kind, group string) (mount, below string) {
	for line := range strings.Lines(mounts) {
		// id parent major:minor root mount options … - type source options
		front, back, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if len(f) < 5 || len(b) < 3 || b[0] != kind || kind == "cgroup" && !lists(b[2], "cpu") {
			continue
		}
		below, inside := strings.CutPrefix(group, strings.TrimSuffix(f[3], "/"))
		if !inside || below != "" && below[0] != '/' {
			below = "/"
		}
		return f[4], path.Join("/", below)
	}
	return "", ""
}

// lists reports whether a list with commas has the word.
func lists(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// limitV2 reads cpu.max of a group: the quota, or "max", and the period.
func limitV2(root fs.FS, dir string) float64 {
	data, _ := fs.ReadFile(root, path.Join(dir, "cpu.max"))
	f := strings.Fields(string(data))
	if len(f) != 2 {
		return math.Inf(1)
	}
	return processorsOf(f[0], f[1])
}

// limitV1 reads the quota, −1 if there is none, and the period of a group.
func limitV1(root fs.FS, dir string) float64 {
	quota, _ := fs.ReadFile(root, path.Join(dir, "cpu.cfs_quota_us"))
	period, _ := fs.ReadFile(root, path.Join(dir, "cpu.cfs_period_us"))
	return processorsOf(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

func processorsOf(quota, period string) float64 {
	q, err := strconv.ParseInt(quota, 10, 64)
	p, perr := strconv.ParseInt(period, 10, 64)
	if err != nil || perr != nil || q <= 0 || p <= 0 {
		return math.Inf(1)
	}
	return float64(q) / float64(p)
}
