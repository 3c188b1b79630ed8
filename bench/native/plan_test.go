package native

import (
	"slices"
	"testing"
	"time"
)

func testPlan(t *testing.T, s selection, o *planOptions) []item {
	t.Helper()
	picked, err := s.pick()
	if err != nil {
		t.Fatal(err)
	}
	return plan(picked, o)
}

func TestPlan(t *testing.T) {
	o := &planOptions{threads: []int{1, 2}, rounds: 5, deepRounds: 2, modes: []string{modeMapped, modeHuge}, avx2: true, emulated: true, seed: 1}
	items := testPlan(t, selection{}, o)
	seen := map[item]int{}
	counts := map[string]int{}
	round := 0
	for _, i := range items {
		seen[i]++
		if seen[i] > 1 {
			t.Errorf("%v twice", i)
		}
		if i.Round < round {
			t.Errorf("round %d after %d", i.Round, round)
		}
		round = i.Round
		counts[i.name()+" "+i.Task]++
		if i.ISA != "" && (i.Engine != ours || i.Mode != modeHuge) || (i.Mode != "") != (i.Engine == ours) {
			t.Errorf("%+v", i)
		}
	}
	for name, want := range map[string]int{
		"leveret bf16 huge short": 10, "leveret bf16 mapped deep": 4, "leveret bf16 huge avx2 short": 6, "leveret bf16 huge avx2 deep": 0,
		"leveret bf16 huge busy": 2, "leveret bf16 mapped busy": 0, "llama.cpp Q8_0 busy": 2, "llama.cpp Q4_0 busy": 0,
		"leveret q8b32 huge draft": 4, "leveret q8b32 mapped draft": 0, "leveret q4b32m huge batch": 4, "leveret q4b32 huge batch": 0,
		"leveret q4b32 huge short": 2, "leveret q8b32+int8 huge short": 10, "leveret q8b32+int8 mapped short": 0, "leveret q8b32+int8 huge deep": 0,
		"leveret q8b32+int8 huge avx2 short": 0, "leveret f32 emulated qemu": 2, "leveret q8b32 emulated qemu": 2, "leveret q8b32 emulated short": 0,
		"PyTorch eager f32 short": 4, "machine - peak": 10,
	} {
		if counts[name] != want {
			t.Errorf("%s: %d samples, want %d", name, counts[name], want)
		}
	}
	if again := testPlan(t, selection{}, o); !slices.Equal(again, items) {
		t.Error("the same seed gave another order")
	}
	other := *o
	other.seed = 2
	if slices.Equal(testPlan(t, selection{}, &other), items) {
		t.Error("another seed gave the same order")
	}
}

// What is compared is measured in turns: within a round, the samples of a class
// and number of threads follow one another.
func TestPlanKeepsPairsTogether(t *testing.T) {
	items := testPlan(t, selection{}, &planOptions{threads: []int{1, 2}, rounds: 2, modes: []string{modeHuge}, seed: 3})
	type group struct {
		round, threads int
		class          class
		task           string
	}
	ended := map[group]bool{}
	var at group
	orders := map[string]bool{}
	for _, i := range items {
		g := group{i.Round, i.Threads, i.Class, i.Task}
		if g != at {
			if ended[g] {
				t.Fatalf("%v comes again", g)
			}
			ended[at] = true
			at = g
		}
		if i.Class == class4 && i.Threads == 1 {
			orders[i.name()] = true
		}
	}
	if len(orders) < 4 {
		t.Errorf("4-bit configs %v", orders)
	}
}

func TestPick(t *testing.T) {
	names := func(s selection) (list []string) {
		picked, err := s.pick()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range picked {
			for _, f := range e.forms {
				list = append(list, e.name+" "+f.name)
			}
		}
		return list
	}
	got := names(selection{engines: []string{"Leveret", "llamacpp"}, forms: []string{"8-bit", "q4_0"}})
	if want := []string{"leveret q8b32", "leveret q8b32+int8", "llama.cpp Q8_0", "llama.cpp Q4_0", "machine -"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, bad := range []selection{{engines: []string{"none"}}, {forms: []string{"Q9"}}, {engines: []string{"mistral.rs"}, forms: []string{"q8b32"}}} {
		if picked, err := bad.pick(); err == nil {
			t.Errorf("%v: picked %v", bad, picked)
		}
	}
}

func TestEstimate(t *testing.T) {
	items := []item{testItem(0), testItem(1), testItem(2)}
	before := []sample{{item: testItem(0), Seconds: 10}, {item: testItem(0), Seconds: 20}, {item: testItem(1), Seconds: 12}}
	per := listen + spinTime
	if got := estimate(items, before); got != 36*time.Second+3*per {
		t.Errorf("%v, want three times what it took, 12 s, and the gate", got)
	}
	if got := estimate(items[:1], nil); got != time.Duration(engineNamed(llamaCpp).seconds*1e9)+per {
		t.Errorf("%v without samples before", got)
	}
}

func TestOrder(t *testing.T) {
	list := []config{
		{Engine: llamaCpp, Class: class4, Threads: 1}, {Engine: ours, Class: class4, Threads: 2}, {Engine: ours, Class: class4, Threads: 1},
		{Engine: llamaCpp, Class: class16, Threads: 1}, {Engine: "PyTorch eager", Class: class32, Threads: 1}, {Engine: ours, Class: class8, Threads: 1},
	}
	want := []config{list[4], list[3], list[5], list[2], list[1], list[0]}
	slices.SortFunc(list, order)
	if !slices.Equal(list, want) {
		t.Errorf("%v", list)
	}
}
