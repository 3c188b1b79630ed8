package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A tally is how often each call ended in each way, over all machines.
type tally struct {
	calls    uint64
	machines int
	ends     map[int]map[unix.Errno]uint64 // by call and errno, 0 for success
	lost     map[int]int                   // threads that never came back, by call
}

func newTally() *tally {
	return &tally{ends: map[int]map[unix.Errno]uint64{}, lost: map[int]int{}}
}

// add takes the lines of a console:
//
//	COUNT call errno:times…
//	LOST worker call arguments…     the call in hexadecimal
//	DONE calls threads              the program made its share
func (t *tally) add(console []byte) (complete bool, counted uint64) {
	for line := range bytes.Lines(console) {
		words := strings.Fields(string(line))
		switch {
		case len(words) < 2:
		case words[0] == "DONE":
			complete = true
		case words[0] == "LOST" && len(words) > 2:
			if nr, err := strconv.ParseInt(words[2], 16, 32); err == nil {
				t.lost[int(nr)]++
			}
		case words[0] == "COUNT":
			nr, err := strconv.Atoi(words[1])
			if err != nil {
				continue
			}
			if t.ends[nr] == nil {
				t.ends[nr] = map[unix.Errno]uint64{}
			}
			for _, w := range words[2:] {
				errno, times, _ := strings.Cut(w, ":")
				e, err1 := strconv.ParseUint(errno, 10, 8)
				n, err2 := strconv.ParseUint(times, 10, 64)
				if err1 == nil && err2 == nil {
					t.ends[nr][unix.Errno(e)] += n
					counted += n
				}
			}
		}
	}
	t.calls += counted
	return complete, counted
}

// print writes a line for each call: its successes and its errors.
func (t *tally) print(w io.Writer) {
	names := implemented()
	for _, nr := range slices.Sorted(maps.Keys(t.ends)) {
		name := names[nr]
		if name == "" {
			name = fmt.Sprint("call ", nr)
		}
		fmt.Fprintf(w, "%-24s ok:%d", name, t.ends[nr][0])
		for _, e := range slices.Sorted(maps.Keys(t.ends[nr])) {
			if e != 0 {
				fmt.Fprintf(w, " %s:%d", errorName(e), t.ends[nr][e])
			}
		}
		if n := t.lost[nr]; n > 0 {
			fmt.Fprintf(w, " lost:%d", n)
		}
		fmt.Fprintln(w)
	}
}

func errorName(e unix.Errno) string {
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return strconv.Itoa(int(e))
}

// missing tells which calls did not succeed at least so often, and which of
// their known errors never came.
func (t *tally) missing(least uint64) (lines []string) {
	names := implemented()
	for _, nr := range slices.Sorted(maps.Keys(names)) {
		name := names[nr]
		if n := t.ends[nr][0]; n < least && !noReturn[name] {
			lines = append(lines, fmt.Sprintf("%s succeeded %d times", name, n))
		}
		for e := range strings.FieldsSeq(known[name]) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(t.ends[nr])), func(got unix.Errno) bool { return errorName(got) == e }) {
				lines = append(lines, fmt.Sprintf("%s never failed with %s", name, e))
			}
		}
	}
	return lines
}

var row = regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \|`)

// implemented reads the list of calls that the kernel says it has.
func implemented() map[int]string {
	text, err := os.ReadFile("docs/syscalls.md")
	if err != nil {
		fatal(err)
	}
	names := map[int]string{}
	for _, m := range row.FindAllSubmatch(text, -1) {
		nr, _ := strconv.Atoi(string(m[1]))
		names[nr] = string(m[2])
	}
	return names
}
