package kernels

import "testing"

func TestCompare(t *testing.T) {
	one := func(kernel string, round int, c clock, v ...float64) run {
		return run{Kernel: kernel, Round: round, Clock: c, Samples: map[string][]float64{"futex": v}, Units: map[string]string{"futex": "ns"}}
	}
	rows := compare([]run{
		one(ours, 0, wall, 10, 12, 11), one("lean", 0, wall, 44),
		one(ours, 1, wall, 20), one("lean", 1, wall, 100),
		one(ours, 2, wall, 5), // no reference in this round
		one("lean", 0, instructions, 7),
	}, "lean")
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1: a reference without ours is none: %v", len(rows), rows)
	}
	r := rows[0]
	if r.Ratio.Median != 4.5 || r.Ratio.N != 2 {
		t.Errorf("ratio %v, want 4.5 of 2 rounds", r.Ratio)
	}
	if r.Goal != 4 || !r.holds() || !r.differs() {
		t.Errorf("goal %v holds %v differs %v", r.Goal, r.holds(), r.differs())
	}
	r.Ratio.Median = 3.9
	if r.holds() {
		t.Error("3.9 of 4 holds")
	}
	r.Goal = 0
	if !r.holds() {
		t.Error("without a goal, 3.9 times cheaper is a loss")
	}
}

func TestGoalsNameWorkloadsOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range goals {
		if seen[g.workload] || g.wall < 1 || g.instructions != 0 && g.instructions < 1 {
			t.Errorf("goal %v", g)
		}
		seen[g.workload] = true
	}
}
