// Command workload measures what operations of a kernel cost the program that
// asks for them: system calls, page faults, futex and pipe round trips,
// threads, cached files. It is one static binary that runs natively, as init of
// a mainline kernel and on Leveret's, so that only the kernel differs.
//
//	workload [-n SAMPLES] [-thp always|madvise|never] [NAME…]
//
// Without names it runs all of them. Each sample is a line
//
//	RESULT <name> <value> <unit>
//
// facts about the system are lines `INFO <name> <text>`, what was refused is a
// line `SKIP <name> <error>`, and the last line is `BENCH DONE`. The exit status
// is 0 only when nothing was skipped.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// A workload takes samples of one operation.
type workload struct {
	name, unit, what string
	// run calls sample n times with a value in the workload's unit.
	run func(n int, sample func(float64)) error
}

// workloads is everything that can be measured, in the order of its run. The
// names that Rabbit published are kept where the definition is the same.
func workloads() []workload {
	return slices.Concat(computeWorkloads, callWorkloads, memoryWorkloads, waitWorkloads, threadWorkloads, fileWorkloads)
}

func main() {
	samples := flag.Int("n", 30, "samples of each workload")
	thp := flag.String("thp", "", "write this to "+thpFile+" first: always, madvise or never")
	list := flag.Bool("list", false, "list the workloads and stop")
	flag.Usage = usage
	flag.Parse()
	if *list {
		printList(os.Stdout)
		return
	}
	chosen, err := choose(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(2)
	}
	if *samples < 1 {
		fmt.Fprintf(os.Stderr, "workload: -n %d: want 1 or more samples\n", *samples)
		os.Exit(2)
	}
	// A thread in a raw call keeps its place among Go's: two that wait for each
	// other need two, also on one processor.
	runtime.GOMAXPROCS(max(4, runtime.NumCPU()))
	runtime.LockOSThread()
	if os.Getpid() == 1 {
		mountMissing()
	}
	if *thp != "" {
		if err := os.WriteFile(thpFile, []byte(*thp), 0); err != nil {
			fmt.Println("SKIP thp", err)
		}
	}
	facts()
	if !measure(chosen, *samples) {
		os.Exit(1)
	}
}

// measure runs the chosen workloads and reports whether none was skipped.
func measure(chosen []workload, samples int) bool {
	complete := true
	for _, w := range chosen {
		// Lines are gathered and written at once, so that printing is no part of
		// what is measured.
		var lines strings.Builder
		err := w.run(samples, func(v float64) {
			fmt.Fprintf(&lines, "RESULT %s %.4f %s\n", w.name, v, w.unit)
		})
		if err != nil {
			fmt.Fprintf(&lines, "SKIP %s %v\n", w.name, err)
			complete = false
		}
		os.Stdout.WriteString(lines.String())
	}
	fmt.Println("BENCH DONE")
	return complete
}

// choose finds workloads by name; no names mean all.
func choose(names []string) ([]workload, error) {
	all := workloads()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []workload
	for _, name := range names {
		i := slices.IndexFunc(all, func(w workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no workload %q: -list shows them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func usage() {
	w := flag.CommandLine.Output()
	fmt.Fprintln(w, "usage: workload [-n SAMPLES] [-thp always|madvise|never] [NAME…]")
	flag.PrintDefaults()
	fmt.Fprintln(w, "\nworkloads:")
	printList(w)
}

func printList(w interface{ Write([]byte) (int, error) }) {
	for _, x := range workloads() {
		fmt.Fprintf(w, "  %-16s %-14s %s\n", x.name, x.unit, x.what)
	}
}

// facts prints what a reader of the samples needs to know of the system.
func facts() {
	info := func(name, path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte("unknown: " + err.Error())
		}
		fmt.Println("INFO", name, strings.Join(strings.Fields(string(text)), " "))
	}
	info("version", "/proc/version")
	info("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource")
	info("thp", thpFile)
	fmt.Println("INFO processors", runtime.NumCPU())
}
