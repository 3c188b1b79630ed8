package kernels

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestBudgets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "budgets.txt")
	count := func(v float64) []run {
		return []run{
			{Kernel: ours, Clock: instructions, Samples: map[string][]float64{"futex": {v}}},
			{Kernel: ours, Clock: wall, Samples: map[string][]float64{"futex": {1e9}}},
			{Kernel: "lean", Clock: instructions, Samples: map[string][]float64{"futex": {1e9}}},
		}
	}
	if err := applyBudgets(file, true, count(100), io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := applyBudgets(file, false, count(104), io.Discard); err != nil {
		t.Errorf("4 %% over: %v", err)
	}
	if err := applyBudgets(file, false, count(106), io.Discard); !errors.Is(err, errBudget) {
		t.Errorf("6 %% over: %v, want errBudget", err)
	}
	if err := applyBudgets(file, false, nil, io.Discard); err == nil || !strings.Contains(err.Error(), "futex") {
		t.Errorf("nothing counted: %v, want an error that names futex", err)
	}
}

func TestParseBudgetsErrors(t *testing.T) {
	for _, bad := range []string{"futex", "futex x", "futex 0", "futex 1 2", "a 1\na 2"} {
		if _, err := parseBudgets(bad); err == nil {
			t.Errorf("parseBudgets(%q): no error", bad)
		}
	}
}
