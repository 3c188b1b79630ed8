package kernels

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/bench/stats"
)

// writeResults writes table.md and table.csv into the folder.
func writeResults(folder string, p plan, runs []run) error {
	main := ""
	if len(p.kernels) > 1 {
		main = p.kernels[1].name
	}
	rows := compare(runs, main)
	if err := os.WriteFile(filepath.Join(folder, "table.md"), []byte(table(p, runs, rows)), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "table.csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.Write([]string{"workload", "unit", "clock", "reference", "ours", "theirs", "ratio", "least ratio", "most ratio", "goal", "rounds"})
	for _, r := range rows {
		w.Write([]string{r.Workload, r.Unit, string(r.Clock), r.Reference, number(r.Ours.Median), number(r.Theirs.Median),
			number(r.Ratio.Median), number(r.Ratio.Least), number(r.Ratio.Most), number(r.Goal), fmt.Sprint(r.Ratio.N)})
	}
	w.Flush()
	return w.Error()
}

// table shows what does not hold first.
func table(p plan, runs []run, rows []row) string {
	var b strings.Builder
	b.WriteString("# What kernels cost the same program\n\n")
	b.WriteString("Made by `go run ./bench kernels`; docs/bench.md says how. Each figure is the median over the rounds of a run's median; a ratio is the reference's cost over ours within a round, so above 1 ours is cheaper. One processor, TCG, Skylake-Client.\n\n")
	fmt.Fprintf(&b, "%d rounds by wall clock (with instructions counted: at most 2), %d samples of each workload in each; %d boots. %s", p.rounds, p.samples, p.boots, machineLine())
	for _, k := range p.kernels[1:] {
		fmt.Fprintf(&b, " %s: `%s`.", k.name, strings.TrimSpace(filepath.Base(k.file)+" "+k.words))
	}
	b.WriteString("\n\n")
	section := func(title string, want func(row) bool) {
		var lines []string
		for _, r := range rows {
			if want(r) {
				lines = append(lines, line(r))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&b, "## %s\n\n| workload | clock | ours | theirs | unit | ratio | goal |\n| --- | --- | --- | --- | --- | --- | --- |\n%s\n", title, strings.Join(lines, ""))
		}
	}
	for i, k := range p.kernels[1:] {
		of := func(r row) bool { return r.Reference == k.name }
		if i == 0 {
			section("Lost to "+k.name+", or short of the goal", func(r row) bool { return of(r) && !r.holds() })
			section("Reached against "+k.name, func(r row) bool { return of(r) && r.holds() })
			continue
		}
		section("Lost to "+k.name, func(r row) bool { return of(r) && !r.holds() })
		section("Ahead of "+k.name, func(r row) bool { return of(r) && r.holds() })
	}
	for _, r := range runs {
		for name, reason := range r.Skipped {
			fmt.Fprintf(&b, "- %s, %s, round %d: %s was skipped: %s\n", r.Kernel, r.Clock, r.Round+1, name, reason)
		}
		if r.Failed != "" {
			fmt.Fprintf(&b, "- %s, %s, round %d failed: %s\n", r.Kernel, r.Clock, r.Round+1, r.Failed)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func line(r row) string {
	goal := "—"
	if r.Goal > 0 {
		goal = number(r.Goal)
	}
	ratio := span(r.Ratio)
	if !r.differs() {
		ratio += ", no measured difference"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", r.Workload, r.Clock, span(r.Ours), span(r.Theirs), r.Unit, ratio, goal)
}

// span shows a median and its range.
func span(s stats.Spread) string {
	if s.N > 1 {
		return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Least), number(s.Most))
	}
	return number(s.Median)
}

func number(v float64) string { return fmt.Sprintf("%.4g", v) }
