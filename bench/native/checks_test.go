package native

import (
	"strings"
	"testing"
)

// rowsOf makes samples of one config, a round for each value of the first key.
func rowsOf(c config, tokens bool, values map[string][]float64) []sample {
	var list []sample
	for key, v := range values {
		for round, x := range v {
			task := taskShort
			switch key {
			case keyDeep:
				task = taskDeep
			case keyCode, keyCodeDraft, keyProse, keyProseDraft:
				task = taskDraft
			case keyBatchOne, keyBatch:
				task = taskBatch
			case keyEmulated, keyInstructions:
				task = taskQEMU
			}
			i := item{config: c, Task: task, Round: round}
			at := -1
			for k := range list {
				if list[k].item == i {
					at = k
				}
			}
			if at < 0 {
				list = append(list, sample{item: i, Values: map[string]float64{}})
				at = len(list) - 1
			}
			list[at].Values[key] = x
			if tokens && round == 0 && task == taskShort {
				list[at].Tokens = map[string][]int{"first": reference.Plain.Tokens, "chat": reference.Chat.Tokens}
			}
		}
	}
	return list
}

func find(t *testing.T, list []check, claim string) check {
	t.Helper()
	for _, c := range list {
		if strings.HasPrefix(c.Claim, claim) {
			return c
		}
	}
	t.Fatalf("no check of %q", claim)
	return check{}
}

func testSamples() []sample {
	our := func(form string, c class, mode string) config {
		return config{Engine: ours, Form: form, Class: c, Mode: mode, Threads: 1}
	}
	peer := func(engine, form string, c class) config {
		return config{Engine: engine, Form: form, Class: c, Threads: 1}
	}
	var s []sample
	add := func(c config, tokens bool, v map[string][]float64) { s = append(s, rowsOf(c, tokens, v)...) }
	add(our("q8b32", class8, modeHuge), true, map[string][]float64{keyDecode: {150, 160, 170}, keyRatio: {0.8, 0.9, 0.7}, keyPrefill: {600}, keyBytes: {100}, keyDeep: {75}})
	add(our("q8b32", class8, modeHuge), true, map[string][]float64{keyCode: {100}, keyCodeDraft: {200}, keyProse: {100}, keyProseDraft: {90}, keyBatchOne: {10}, keyBatch: {30}})
	add(our("q8b32+int8", class8, modeHuge), false, map[string][]float64{keyPrefill: {800}})
	add(our("q8b32", class8, modeEmulated), false, map[string][]float64{keyEmulated: {3}, keyInstructions: {0.3}})
	add(our("f32", class32, modeEmulated), false, map[string][]float64{keyEmulated: {1}, keyInstructions: {0.5}})
	add(our("q8b32", class8, modeMapped), true, map[string][]float64{keyDecode: {120, 120, 120}, keyFirst: {0.03}, keyLoad: {0.03}, keyMemory: {200e6}, keyBytes: {100}})
	add(our("q4b32m", class4, modeHuge), true, map[string][]float64{keyDecode: {230}, keyBytes: {60}})
	add(our("q4b32", class4, modeHuge), false, map[string][]float64{keyDecode: {999}, keyBytes: {50}})
	add(peer(llamaCpp, "Q8_0", class8), true, map[string][]float64{keyDecode: {100, 100, 100}, keyPrefill: {500}, keyFirst: {0.1}, keyLoad: {0.1}, keyMemory: {190e6}})
	add(peer(llamaCpp, "Q4_0", class4), false, map[string][]float64{keyDecode: {210}})
	add(peer(llamaCpp, "Q4_1", class4), true, map[string][]float64{keyDecode: {100}})
	return s
}

func TestChecks(t *testing.T) {
	b := newBoard(results(testSamples()))
	if got := b.smallest(); got != "q4b32m" {
		t.Fatalf("smallest form %q, want the one that keeps tokens", got)
	}
	list := b.checks()
	for _, c := range []struct {
		claim, against, verdict string
		median                  float64
	}{
		{"bf16, huge", "llama.cpp bf16", notMeasured, 0},
		{"q8b32, huge", "llama.cpp Q8_0", holds, 1.6},
		{"q4b32m, huge, against the fastest 4-bit peer that keeps", "llama.cpp Q4_1 (kept)", holds, 2.3},
		{"q4b32m, huge, against the fastest peer of all", "llama.cpp Q4_0", fails, 230. / 210},
		{"q8b32, huge, of the plain read", "reading", fails, 0.8},
		{"q8b32, mapped", "reading", notMeasured, 0},
		{"q8b32, huge, context 2,048", "context 128", published, 0.5},
		{"q8b32, exact", "llama.cpp Q8_0", fails, 1.2},
		{"q8b32+int8, 8-bit activations", "llama.cpp Q8_0", holds, 1.6},
		{"q8b32, 8-bit activations", "exact ones", published, 800. / 600},
		{"q4b32m+int8, 8-bit activations", "llama.cpp Q8_0", notMeasured, 0},
		{"q8b32, huge, drafts, code given back", "the same tokens", holds, 2},
		{"q8b32, huge, drafts, nothing repeats", "the same tokens", fails, 0.9},
		{"q8b32, huge, 8 sessions together", "one", fails, 3},
		{"q8b32, decode under", "f32 there", holds, 3},
		{"f32, instructions a weight", "counted by", published, 0.5},
		{"q8b32, mapped, start to first token", "llama.cpp Q8_0", holds, 0.3},
		{"q8b32, mapped, load", "llama.cpp Q8_0", fails, 0.3},
		{"q8b32, mapped, peak memory", "llama.cpp Q8_0", fails, 200. / 190},
		{"q8b32, huge, decode with AVX2", "", notMeasured, 0},
	} {
		got := find(t, list, c.claim)
		if !strings.HasPrefix(got.Against, c.against) || got.verdict() != c.verdict || got.Got.Median-c.median > 1e-9 || c.median-got.Got.Median > 1e-9 {
			t.Errorf("%s: against %s, %v %s; want %s, %v, %s", c.claim, got.Against, got.Got.Median, got.verdict(), c.against, c.median, c.verdict)
		}
	}
	for i := range list[1:] {
		if list[i].Topic > list[i+1].Topic {
			t.Errorf("%q stands before %q", list[i].Topic, list[i+1].Topic)
		}
	}
}

// Where no peer keeps the tokens, the fastest that keeps the answer stands in.
func TestBestKeeper(t *testing.T) {
	var s []sample
	add := func(form string, rate float64, plain []int) {
		list := rowsOf(config{Engine: llamaCpp, Form: form, Class: class4, Threads: 1}, false, map[string][]float64{keyDecode: {rate}})
		list[0].Tokens = map[string][]int{"first": plain, "chat": {0}}
		s = append(s, list...)
	}
	want := reference.Plain.Tokens
	keeper := func() string { return newBoard(results(s)).bestKeeper(1).Form }
	add("lost", 300, []int{1, 2, 3})
	if got := keeper(); got != "" {
		t.Errorf("%q, want none", got)
	}
	add("first", 200, []int{want[0], 1})
	if got := keeper(); got != "first" {
		t.Errorf("%q", got)
	}
	add("plain", 100, want)
	if got := keeper(); got != "plain" {
		t.Errorf("%q, want the slower one that keeps all", got)
	}
}

func TestLosses(t *testing.T) {
	list := newBoard(results(testSamples())).losses()
	if len(list) != 1 {
		t.Fatalf("%d losses: %+v", len(list), list)
	}
	l := list[0]
	if l.measure.key != keyMemory || l.theirs.Form != "Q8_0" || l.ours.Form != "q8b32" || l.ratio <= 1.05 || l.ratio >= 1.06 {
		t.Errorf("%+v", l)
	}
}

// A form of ours that loses tokens is no win.
func TestLosingFormsDoNotCount(t *testing.T) {
	s := rowsOf(config{Engine: ours, Form: "q4b32", Class: class4, Mode: modeHuge, Threads: 1}, false, map[string][]float64{keyDecode: {999}, keyBytes: {1}})
	b := newBoard(results(s))
	if b.smallest() != "" || b.bestOfOurs(measures[0], class4, 1) != nil {
		t.Error("a form that keeps no tokens counts")
	}
}
