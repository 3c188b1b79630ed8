package native

import (
	"cmp"
	"fmt"
	"github.com/leveret-os/leveret/bench/stats"
	"math/rand/v2"
	"slices"
	"time"
)

// Tasks are what one sample does.
const (
	taskShort = "short" // start, first token, memory, prefill, decode
	taskDeep  = "deep"  // decode in a long context
	taskBusy  = "busy"  // decode while another process takes one processor
	taskDraft = "draft" // decode with and without drafts, where text repeats and where not
	taskBatch = "batch" // decode with one session and with eight
	taskQEMU  = "qemu"  // decode under an emulator
	taskPeak  = "peak"  // the machine's own limits
)

// config is who runs, and how.
type config struct {
	Engine  string `json:"engine"`
	Form    string `json:"form"`
	Class   class  `json:"class,omitempty"`
	Mode    string `json:"mode,omitempty"` // ours: "mapped" or "huge"
	ISA     string `json:"isa,omitempty"`  // ours, where it is forced
	Threads int    `json:"threads"`
}

// name is a config without the threads.
func (c config) name() string {
	s := c.Engine
	for _, part := range []string{c.Form, c.Mode, c.ISA} {
		if part != "" {
			s += " " + part
		}
	}
	return s
}

func (c config) String() string { return fmt.Sprintf("%s, %s", c.name(), plural(c.Threads, "thread")) }

// classes in the order of tables.
var classes = []class{class32, class16, class8, class4}

// order sorts as tables do: by class, ours first, then by name and threads.
func order(a, b config) int {
	rank := func(c config) int {
		r := 2 * slices.Index(classes, c.Class)
		if c.Engine != ours {
			r++
		}
		return r
	}
	return cmp.Or(rank(a)-rank(b), cmp.Compare(a.name(), b.name()), cmp.Compare(a.Threads, b.Threads))
}

// item is one sample to take.
type item struct {
	config
	Task  string `json:"task"`
	Round int    `json:"round"`
}

// forcedRounds limits the repetitions with a forced instruction set.
const forcedRounds = 3

// planOptions say what is measured.
type planOptions struct {
	threads            []int
	rounds, deepRounds int
	modes              []string
	avx2               bool // ours also with AVX2 forced
	emulated           bool // ours also under an emulator
	seed               uint64
}

// configs returns every config that the engines have.
func configs(picked []*engine, o *planOptions) []config {
	var all []config
	for _, e := range picked {
		for _, f := range e.forms {
			for _, t := range o.threads {
				c := config{Engine: e.name, Form: f.name, Class: f.class, Threads: t}
				if e.name != ours {
					all = append(all, c)
					continue
				}
				for _, m := range o.modes {
					c.Mode = m
					if f.variant == "" || m == modeHuge {
						all = append(all, c)
					}
				}
				if o.emulated && f.name == "q8b32" && t == 1 {
					c.Mode = modeEmulated
					all = append(all, c, config{Engine: ours, Form: emulatedForm, Class: class32, Mode: modeEmulated, Threads: 1})
				}
				if f.variant != "" {
					continue
				}
				if o.avx2 && slices.Contains(o.modes, modeHuge) {
					c.Mode, c.ISA = modeHuge, "avx2"
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// plan returns all samples in the order to take them. Each round has every
// sample once. Within a round the samples of one class and number of threads
// stand together, so that what is compared is measured within minutes; the
// groups, and the samples within each, are shuffled.
func plan(picked []*engine, o *planOptions) []item {
	all := configs(picked, o)
	random := rand.New(rand.NewPCG(o.seed, 0x6c657665726574))
	var items []item
	for round := range o.rounds {
		groups := map[string][]item{}
		var names []string
		add := func(i item) {
			i.Round = round
			name := fmt.Sprintf("%s %d %s", i.Class, i.Threads, i.Task)
			if groups[name] == nil {
				names = append(names, name)
			}
			groups[name] = append(groups[name], i)
		}
		for _, c := range all {
			if most := roundsOf(c); most > 0 && round >= most {
				continue
			}
			if c.ISA != "" && round >= forcedRounds {
				continue
			}
			for _, task := range tasks(c, o, round) {
				add(item{config: c, Task: task})
			}
		}
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			g := groups[name]
			random.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
			items = append(items, g...)
		}
	}
	return items
}

// roundsOf returns how often a config is measured at most; 0 is no limit.
func roundsOf(c config) int {
	e := engineNamed(c.Engine)
	return cmp.Or(e.fewer[c.Form], e.rounds)
}

// batched are the forms of ours whose sessions are measured together, and whose
// drafts are: one of each kind, with the activations that keep the bits.
var batched = []string{"bf16", "q8b32", "q4b32m"}

// crowded are the peers beside which ours stands while another process takes a
// processor: 8-bit forms, whose threads wait in different ways.
var crowded = []string{"llama.cpp Q8_0", "ONNX Runtime GenAI int8", "OpenVINO GenAI Q8_0"}

// tasks returns what a config does in a round.
func tasks(c config, o *planOptions, round int) []string {
	switch {
	case c.Engine == machine:
		return []string{taskPeak}
	case c.Mode == modeEmulated:
		if round < o.deepRounds {
			return []string{taskQEMU}
		}
		return nil
	case c.ISA != "":
		return []string{taskShort}
	}
	t := []string{taskShort}
	if round >= o.deepRounds || round > 0 && roundsOf(c) > 0 {
		return t
	}
	if c.Engine == ours && !slices.Contains(batched, c.Form) {
		return t
	}
	t = append(t, taskDeep)
	fastest := c.Mode == modeHuge
	// What another process costs concerns those who use all processors.
	if c.Threads > 1 && (fastest || slices.Contains(crowded, c.name())) {
		t = append(t, taskBusy)
	}
	if fastest {
		t = append(t, taskDraft, taskBatch)
	}
	return t
}

// estimate returns how long the samples take: as long as their like took
// before, or as the engines say.
func estimate(items []item, before []sample) time.Duration {
	type like struct {
		config
		task string
	}
	took := map[like][]float64{}
	for _, s := range before {
		took[like{s.config, s.Task}] = append(took[like{s.config, s.Task}], s.Seconds)
	}
	var seconds float64
	for _, i := range items {
		if t := took[like{i.config, i.Task}]; len(t) > 0 {
			seconds += stats.Of(t).Median
			continue
		}
		e := engineNamed(i.Engine)
		s := e.seconds
		switch {
		case i.Task == taskDeep:
			s *= 0.9
		case i.Task == taskBusy:
			s *= 0.5
		case i.Task == taskDraft:
			s *= 2.5
		case i.Task == taskBatch:
			s *= 1.5
		case i.Task == taskQEMU:
			s *= 7
		}
		if i.Threads > 1 {
			s *= 0.65
		}
		seconds += s
	}
	// The gate listens for a moment before each sample.
	seconds += float64(len(items)) * (listen + spinTime).Seconds()
	return time.Duration(seconds * float64(time.Second))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
