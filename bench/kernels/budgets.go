package kernels

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/leveret-os/leveret/bench/stats"
)

// slack is by how much a change may exceed a budget.
const slack = 1.05

// unsteady is a workload without a budget: when Go's runtime wakes its threads
// decides what it takes.
const unsteady = "threads-go"

// errBudget says that a workload takes more instructions than it may.
var errBudget = errors.New("over the instruction budget")

const budgetsHead = `# Guest instructions that each workload takes on our kernel (bench/workload, in
# its units). A change may exceed them by 5 % at most; one that saves writes them
# anew: go run ./bench kernels -n 9 -budgets FILE -write-budgets
`

// applyBudgets checks the instruction counts of our kernel against a file, or
// writes the file.
func applyBudgets(file string, write bool, runs []run, w io.Writer) error {
	counted := map[string][]float64{}
	for _, r := range runs {
		if r.Kernel != ours || r.Clock != instructions {
			continue
		}
		for name, samples := range r.Samples {
			counted[name] = append(counted[name], stats.Of(samples).Median)
		}
	}
	if write {
		var b strings.Builder
		b.WriteString(budgetsHead)
		for _, name := range slices.Sorted(maps.Keys(counted)) {
			if name == unsteady {
				continue
			}
			fmt.Fprintf(&b, "%s %.4g\n", name, stats.Of(counted[name]).Median)
		}
		return os.WriteFile(file, []byte(b.String()), 0o644)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	budgets, err := parseBudgets(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var over []error
	for _, name := range slices.Sorted(maps.Keys(budgets)) {
		got := stats.Of(counted[name])
		fmt.Fprintf(w, "budget %-18s %10.4g of %10.4g\n", name, got.Median, budgets[name])
		switch {
		case got.N == 0:
			over = append(over, fmt.Errorf("%s: budget %.1f, not counted", name, budgets[name]))
		case got.Median > budgets[name]*slack:
			over = append(over, fmt.Errorf("%s: %w: %.4g, budget %.4g", name, errBudget, got.Median, budgets[name]))
		}
	}
	return errors.Join(over...)
}

// parseBudgets reads lines `name instructions`; # begins a comment.
func parseBudgets(text string) (map[string]float64, error) {
	budgets := map[string]float64{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("line %d: %q: want a name and a number", i+1, line)
		}
		v, err := strconv.ParseFloat(f[1], 64)
		if err != nil || v <= 0 {
			return nil, fmt.Errorf("line %d: %q is no positive number", i+1, f[1])
		}
		if _, twice := budgets[f[0]]; twice {
			return nil, fmt.Errorf("line %d: %s stands twice", i+1, f[0])
		}
		budgets[f[0]] = v
	}
	return budgets, nil
}
