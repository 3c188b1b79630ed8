package kernels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A kernel is something to boot.
type kernel struct {
	name  string
	file  string // "": ours, before it is built
	words string // more words for its command line
	// About how long a run of all workloads takes with five samples, by wall
	// clock and when instructions are counted.
	wall, counted time.Duration
}

// clearRep makes Linux clear and copy without the string instructions that an
// emulator runs a byte at a time.
const clearRep = "clearcpuid=erms,fsrm,rep_good"

// mainline is what bench/kernels/mainline/build.sh makes, in the order of the
// table: the toughest fair reference, to which the goals belong, first.
var mainline = []kernel{
	{"lean-smp-rep", "vmlinux-lean-smp", clearRep, 11 * time.Second, 20 * time.Second},
	{"lean-up-rep", "vmlinux-lean-up", clearRep, 12 * time.Second, 35 * time.Second},
	{"lean-smp", "vmlinux-lean-smp", "", 24 * time.Second, 60 * time.Second},
}

// ourKernel is ours before it is built.
var ourKernel = kernel{name: ours, wall: 8 * time.Second, counted: 9 * time.Second}

// errMainline says that a reference kernel is not there.
var errMainline = errors.New("bench/kernels/mainline/build.sh makes it (docs/bench.md); -mainline none measures ours alone")

// references are the kernels of a folder.
func references(folder string) ([]kernel, error) {
	var found []kernel
	for _, k := range mainline {
		k.file = filepath.Join(folder, k.file)
		if _, err := os.Stat(k.file); err != nil {
			return nil, fmt.Errorf("no %s: %w", k.file, errMainline)
		}
		found = append(found, k)
	}
	return found, nil
}

// mainlineFolder is where build.sh leaves its kernels, "" when there is no
// folder for caches.
func mainlineFolder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "leveret", "mainline")
}

// parseReference reads NAME=FILE[;WORD]….
func parseReference(s string) (kernel, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok || name == "" || name == ours {
		return kernel{}, errors.New("want NAME=FILE[;WORD]…")
	}
	file, words, _ := strings.Cut(rest, ";")
	_, err := os.Stat(file)
	return kernel{name, file, strings.ReplaceAll(words, ";", " "), 30 * time.Second, 60 * time.Second}, err
}

// estimate is about how long jobs take.
func (p plan) estimate(jobs []job) time.Duration {
	var sum time.Duration
	for _, j := range jobs {
		switch {
		case j.kind == boot:
			sum += 1500 * time.Millisecond
		case j.kind == weights:
			sum += 20 * time.Second
		case len(p.workloads) > 0:
			sum += 5 * time.Second
		case j.clock == wall:
			sum += j.kernel.wall
		default:
			sum += j.kernel.counted
		}
	}
	return sum
}
