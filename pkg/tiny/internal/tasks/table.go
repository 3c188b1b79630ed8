package tasks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leveret-os/leveret/pkg/agent"
)

// A Table counts outcomes by kind.
type Table struct {
	rows [Kinds]row
}

type row struct {
	tasks, right, wrong int
	ends                map[agent.Reason]int // other than done
	calls               map[string]int       // kinds that the calls are those of
	time                time.Duration
}

// sequences are the calls of each kind.
var sequences = map[string]Kind{
	"read_file done":            Read,
	"list_dir done":             List,
	"compute done":              Compute,
	"write_file done":           Write,
	"read_file write_file done": ReadWrite,
	"read_file compute done":    ReadCompute,
}

// Add counts an outcome.
func (t *Table) Add(task *Task, o *Outcome) {
	r := &t.rows[task.Kind]
	if r.ends == nil {
		r.ends, r.calls = map[agent.Reason]int{}, map[string]int{}
	}
	r.tasks++
	r.time += o.Time
	switch {
	case o.Wrong == nil:
		r.right++
	case errors.Is(o.Wrong, ErrOutcome):
		r.wrong++
	default:
		r.ends[o.Reason]++
	}
	names := make([]string, len(o.Steps))
	for i, s := range o.Steps {
		names[i] = s.Call.Name
	}
	if k, ok := sequences[strings.Join(names, " ")]; ok {
		r.calls[k.String()]++
	} else {
		r.calls["other"]++
	}
}

// Score returns the share of tasks that ended with done and the right outcome,
// and how many tasks there were.
func (t *Table) Score() (share float64, tasks int) {
	right := 0
	for _, r := range t.rows {
		tasks += r.tasks
		right += r.right
	}
	return float64(right) / float64(max(1, tasks)), tasks
}

// String writes two tables in Markdown: what came of the tasks, and of which
// kind the calls were that the model made.
func (t *Table) String() string {
	var b strings.Builder
	sum := row{ends: map[agent.Reason]int{}}
	b.WriteString("| kind | tasks | right | done, but wrong | other ends | right, % | ms a task |\n| --- | ---: | ---: | ---: | --- | ---: | ---: |\n")
	line := func(name string, r *row) {
		var ends []string
		for _, reason := range slices.Sorted(maps.Keys(r.ends)) {
			ends = append(ends, fmt.Sprintf("%s %d", reason, r.ends[reason]))
		}
		if ends == nil {
			ends = []string{"0"}
		}
		n := max(1, r.tasks)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %.1f | %.1f |\n", name, r.tasks, r.right, r.wrong, strings.Join(ends, ", "), 100*float64(r.right)/float64(n), float64(r.time.Microseconds())/1000/float64(n))
	}
	for k := range t.rows {
		r := &t.rows[k]
		line(Kind(k).String(), r)
		sum.tasks += r.tasks
		sum.right += r.right
		sum.wrong += r.wrong
		sum.time += r.time
		for reason, n := range r.ends {
			sum.ends[reason] += n
		}
	}
	line("all", &sum)
	b.WriteString("\n| asked for | calls of: ")
	columns := append(slices.Clone(kindNames[:]), "other")
	b.WriteString(strings.Join(columns, " | ") + " |\n| --- |" + strings.Repeat(" ---: |", len(columns)) + "\n")
	for k := range t.rows {
		fmt.Fprintf(&b, "| %s |", Kind(k))
		for _, c := range columns {
			fmt.Fprintf(&b, " %d |", t.rows[k].calls[c])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
