package native

import (
	"cmp"
	"fmt"
	"github.com/leveret-os/leveret/bench/stats"
	"slices"
)

// Verdicts of a check.
const (
	holds       = "holds"
	fails       = "does not hold"
	notMeasured = "not measured"
	published   = "" // a figure without a goal
)

// A check compares a ratio with the goal that was set for it.
type check struct {
	Topic   string
	Claim   string
	Threads int    // 0: for both
	Against string // the other side
	Got     spread // the ratio; medians are compared
	Want    float64
	Less    bool // the ratio has to be Want at most
	Digits  int  // 0 means 2
}

func (c *check) verdict() string {
	switch {
	case c.Got.N == 0:
		return notMeasured
	case c.Want == 0:
		return published
	case c.Less && c.Got.Median <= c.Want, !c.Less && c.Got.Median >= c.Want:
		return holds
	}
	return fails
}

// goal is the goal in words.
func (c *check) goal() string {
	switch {
	case c.Want == 0:
		return "—"
	case c.Less:
		return fmt.Sprintf("≤ %.2f", c.Want)
	}
	return fmt.Sprintf("≥ %.2f", c.Want)
}

// A board finds results.
type board struct {
	all     []*result
	threads []int
}

func newBoard(all []*result) *board {
	b := &board{all: all}
	for _, r := range all {
		if r.Engine != machine && !slices.Contains(b.threads, r.Threads) {
			b.threads = append(b.threads, r.Threads)
		}
	}
	slices.Sort(b.threads)
	return b
}

// of returns a config's result, an empty one if there is none.
func (b *board) of(c config) *result {
	for _, r := range b.all {
		if r.Engine == c.Engine && r.Form == c.Form && r.Mode == c.Mode && r.ISA == c.ISA && r.Threads == c.Threads {
			return r
		}
	}
	return &result{config: c}
}

func (b *board) ours(form, mode string, threads int) *result {
	return b.of(config{Engine: ours, Form: form, Mode: mode, Threads: threads})
}

// best returns the peer that is best in a measure among those that ok accepts,
// or an empty result.
func (b *board) best(key string, less bool, threads int, ok func(*result) bool) *result {
	best := &result{config: config{Engine: "no peer", Threads: threads}}
	for _, r := range b.all {
		if r.Engine == ours || r.Engine == machine || r.Threads != threads || !ok(r) {
			continue
		}
		s, t := r.spread(key), best.spread(key)
		if s.N > 0 && (t.N == 0 || less && s.Median < t.Median || !less && s.Median > t.Median) {
			best = r
		}
	}
	return best
}

// bestKeeper returns the fastest 4-bit peer that keeps the tokens. Peers are
// judged mildly: those that keep them after the plain prompt will do, and where
// there are none, those that keep the first.
func (b *board) bestKeeper(threads int) *result {
	var r *result
	for _, keeps := range []func(agreement) bool{
		func(a agreement) bool { return a.Plain },
		func(a agreement) bool { return a.First },
	} {
		r = b.best(keyDecode, false, threads, func(r *result) bool { return r.Class == class4 && keeps(r.Agreement) })
		if r.spread(keyDecode).N > 0 {
			break
		}
	}
	return r
}

// smallest returns our smallest form that keeps the tokens, "" if no 4-bit form
// does: the claims are about those.
func (b *board) smallest() string {
	form, size := "", 0.0
	for _, r := range b.all {
		if r.Engine != ours || r.Class != class4 || !r.Agreement.Keeps || !slices.Contains(batched, r.Form) {
			continue
		}
		if s := r.spread(keyBytes); s.N > 0 && (form == "" || s.Median < size) {
			form, size = r.Form, s.Median
		}
	}
	return form
}

// checks returns all goals with what was measured, in the order of topics.
func (b *board) checks() []check {
	var list []check
	for _, t := range b.threads {
		list = slices.Concat(list, b.decodeChecks(t), b.prefillChecks(t), b.mappedChecks(t), b.avx2Checks(t), b.emulatedChecks(t), b.busyChecks(t), b.draftChecks(t), b.batchChecks(t))
	}
	slices.SortStableFunc(list, func(x, y check) int { return cmp.Compare(x.Topic, y.Topic) })
	return list
}

// against compares ours with a peer's result in a measure, round by round.
func against(o, p *result, key string) spread { return ratios(o.Values[key], p.Values[key]) }

// classOf returns the class of a form of ours.
func classOf(name string) class {
	for _, f := range engineNamed(ours).forms {
		if f.name == name {
			return f.class
		}
	}
	return ""
}

// forms are ours that goals are about: one a class.
func (b *board) forms() []string {
	forms := []string{"bf16", "q8b32"}
	if s := b.smallest(); s != "" {
		forms = append(forms, s)
	}
	return forms
}

func (b *board) decodeChecks(t int) []check {
	const topic = "1. Decode"
	small := b.smallest()
	named := cmp.Or(small, "no 4-bit form of ours")
	pair := func(form, peer string, want float64) check {
		o, p := b.ours(form, modeHuge, t), b.of(config{Engine: llamaCpp, Form: peer, Threads: t})
		return check{Topic: topic, Claim: form + ", huge", Threads: t, Against: p.name(), Got: against(o, p, keyDecode), Want: want}
	}
	list := []check{pair("bf16", "bf16", 1.25), pair("q8b32", "Q8_0", 1.5)}
	o := b.ours(small, modeHuge, t)
	keeps := b.bestKeeper(t)
	any := b.best(keyDecode, false, t, func(*result) bool { return true })
	list = append(list,
		check{Topic: topic, Claim: named + ", huge, against the fastest 4-bit peer that keeps the tokens", Threads: t, Against: keeps.name() + " (" + keepsMark(keeps.Agreement) + ")", Got: against(o, keeps, keyDecode), Want: 2.3},
		check{Topic: topic, Claim: named + ", huge, against the fastest peer of all", Threads: t, Against: any.name(), Got: against(o, any, keyDecode), Want: 1.15})
	for _, form := range b.forms() {
		o := b.ours(form, modeHuge, t)
		m := b.ours(form, modeMapped, t)
		list = append(list,
			check{Topic: topic, Claim: form + ", huge, of the plain read", Threads: t, Against: "reading the same bytes", Got: stats.Of(rounds(o.Values[keyRatio])), Want: 0.85},
			check{Topic: topic, Claim: form + ", mapped, of the plain read", Threads: t, Against: "reading the same bytes", Got: stats.Of(rounds(m.Values[keyRatio]))},
			check{Topic: topic, Claim: form + ", mapped", Threads: t, Against: "huge", Got: ratios(m.Values[keyDecode], o.Values[keyDecode])},
			check{Topic: topic, Claim: form + ", huge, context 2,048", Threads: t, Against: "context 128", Got: ratios(o.Values[keyDeep], o.Values[keyDecode])})
	}
	return list
}

func (b *board) prefillChecks(t int) []check {
	const topic = "2. Prefill"
	q8, q80 := b.ours("q8b32", modeHuge, t), b.of(config{Engine: llamaCpp, Form: "Q8_0", Threads: t})
	limit := b.of(config{Engine: machine, Form: "-", Threads: t})
	bf16 := b.ours("bf16", modeHuge, t)
	flops := stats.Of(rounds(limit.Values[keyPrefillFlops])).Median
	rate := map[int]float64{}
	for round, x := range bf16.Values[keyPrefill] {
		rate[round] = x * flops
	}
	best := b.best(keyPrefill, false, t, func(*result) bool { return true })
	list := []check{
		{Topic: topic, Claim: "q8b32, exact", Threads: t, Against: q80.name(), Got: against(q8, q80, keyPrefill), Want: 1.5},
		{Topic: topic, Claim: "bf16, of the machine's f32 multiply-adds", Threads: t, Against: "multiply-adds alone", Got: ratios(rate, limit.Values[keyFMA]), Want: 0.85},
	}
	// The faster of the two forms with 8-bit activations has the goal.
	fast := b.ours("q8b32+"+int8Activations, modeHuge, t)
	other := b.ours("q4b32m+"+int8Activations, modeHuge, t)
	if other.spread(keyPrefill).Median > fast.spread(keyPrefill).Median {
		fast, other = other, fast
	}
	list = append(list,
		check{Topic: topic, Claim: fast.Form + ", 8-bit activations (tokens: " + keepsMark(fast.Agreement) + "), against the best peer of any form", Threads: t, Against: best.name(), Got: against(fast, best, keyPrefill), Want: 1.15},
		check{Topic: topic, Claim: other.Form + ", 8-bit activations (tokens: " + keepsMark(other.Agreement) + "), against the best peer of any form", Threads: t, Against: best.name(), Got: against(other, best, keyPrefill)})
	for _, form := range []string{"q8b32", "q4b32m"} {
		x, y := b.ours(form+"+"+int8Activations, modeHuge, t), b.ours(form, modeHuge, t)
		list = append(list, check{Topic: topic, Claim: form + ", 8-bit activations", Threads: t, Against: "exact ones", Got: against(x, y, keyPrefill)})
	}
	return list
}

func (b *board) mappedChecks(t int) []check {
	const topic = "3. Mapped mode"
	var list []check
	for _, form := range b.forms() {
		o := b.ours(form, modeMapped, t)
		for _, m := range []struct {
			key, claim string
			want       float64
		}{{keyFirst, "start to first token", 0.6}, {keyLoad, "load", 0.25}, {keyMemory, "peak memory", 1}} {
			p := b.best(m.key, true, t, func(r *result) bool { return r.Class == classOf(form) })
			list = append(list, check{Topic: topic, Claim: form + ", mapped, " + m.claim, Threads: t, Against: p.name(), Got: against(o, p, m.key), Want: m.want, Less: true})
		}
	}
	return list
}

func (b *board) avx2Checks(t int) []check {
	var list []check
	for _, form := range b.forms() {
		o := b.ours(form, modeHuge, t)
		slow := b.of(config{Engine: ours, Form: form, Mode: modeHuge, ISA: "avx2", Threads: t})
		list = append(list, check{Topic: "4. AVX2", Claim: form + ", huge, decode with AVX2", Threads: t, Against: "the best instruction set", Got: against(slow, o, keyDecode), Want: 0.6})
	}
	return list
}

// emulatedChecks are of one thread: an emulator's threads are no processors.
func (b *board) emulatedChecks(t int) []check {
	if t != 1 {
		return nil
	}
	const topic, by = "4. Emulator", emulator + " as " + emulatedCPU
	q8, f32 := b.ours("q8b32", modeEmulated, 1), b.ours(emulatedForm, modeEmulated, 1)
	list := []check{{Topic: topic, Claim: "q8b32, decode under " + by, Threads: 1, Against: emulatedForm + " there", Got: against(q8, f32, keyEmulated), Want: 2.5}}
	for _, r := range []*result{q8, f32} {
		list = append(list, check{Topic: topic, Claim: r.Form + ", instructions a weight in decoding", Threads: 1, Against: "counted by " + by, Got: r.spread(keyInstructions)})
	}
	return list
}

func (b *board) draftChecks(t int) []check {
	const topic = "6. Speculation"
	var list []check
	for _, form := range b.forms() {
		o := b.ours(form, modeHuge, t)
		for _, m := range []struct {
			with, without, what string
			want                float64
		}{{keyCodeDraft, keyCode, "code given back", 1.5}, {keyRewriteDraft, keyRewrite, "a text given back", 1.5}, {keyProseDraft, keyProse, "nothing repeats", 0.98}} {
			list = append(list, check{Topic: topic, Claim: form + ", huge, drafts, " + m.what, Threads: t, Against: "the same tokens without", Got: ratios(o.Values[m.with], o.Values[m.without]), Want: m.want})
		}
	}
	return list
}

func (b *board) batchChecks(t int) []check {
	var list []check
	for _, form := range b.forms() {
		o := b.ours(form, modeHuge, t)
		want := 0.0
		if form == "q8b32" {
			want = 4
		}
		list = append(list, check{Topic: "7. Batches", Claim: form + ", huge, " + plural(batchSize, "session") + " together", Threads: t, Against: "one", Got: ratios(o.Values[keyBatch], o.Values[keyBatchOne]), Want: want})
	}
	return list
}

func (b *board) busyChecks(t int) []check {
	if t < 2 {
		return nil
	}
	const topic = "5. One processor taken"
	var list []check
	add := func(r *result, want float64) {
		list = append(list, check{Topic: topic, Claim: r.name() + ", decode", Threads: t, Against: "all processors free", Got: ratios(r.Values[keyBusy], r.Values[keyDecode]), Want: want})
	}
	for _, form := range b.forms() {
		add(b.ours(form, modeHuge, t), 0.55)
	}
	for _, r := range b.all {
		if r.Engine != ours && r.Threads == t && len(r.Values[keyBusy]) > 0 {
			add(r, 0)
		}
	}
	return list
}

// rounds are the values of all rounds.
func rounds(values map[int]float64) []float64 {
	var v []float64
	for _, x := range values {
		v = append(v, x)
	}
	return v
}
