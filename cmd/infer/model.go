package main

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// modelFlags are the flags of every command that runs a model.
type modelFlags struct {
	path        string
	threads     int
	isa         string
	activations string
	mlock, huge bool
}

const modelArgument = "DIR|FILE"

func (m *modelFlags) declare(f *flags) {
	m.declareModel(f)
	f.int(&m.threads, "t,threads", "processors to use (default: all that are available)")
	m.declareMode(f)
}

func (m *modelFlags) declareModel(f *flags) {
	f.string(&m.path, "m,model", modelArgument, "the model: a folder with config.json, tokenizer and safetensors, a .safetensors file in such a folder, or a .gguf file")
}

func (m *modelFlags) declareMode(f *flags) {
	f.string(&m.isa, "isa", "NAME", "force an instruction set: avx512, avx2, portable (default: the best; the results are the same)")
	declareActivations(f, &m.activations)
	f.bool(&m.mlock, "mlock", "keep the weights in memory (mlock); what could not be kept is said")
	f.bool(&m.huge, "huge", "copy the weights into 2 MiB pages: slower to load, faster to run")
}

func declareActivations(f *flags, p *string) {
	f.string(p, "activations", "NAME", "what matrices in block formats are multiplied by: exact (16-bit integers), or int8, which is faster and can change tokens (default exact)")
}

// checkActivations refuses other names.
func checkActivations(name string) error {
	switch name {
	case "", "exact", "int8":
		return nil
	}
	return usagef("--activations %s: expected exact or int8", name)
}

// processors returns a number of threads that there are processors for: more
// would only wait for each other. 0 are all.
func processors(c *console, threads int) int {
	n := runtime.GOMAXPROCS(0)
	if threads <= n {
		return threads
	}
	c.note("-t %d: there are %s for this process, which is what is used", threads, count(n, "processor"))
	return n
}

// check refuses what cannot be meant.
func (m *modelFlags) check() error {
	switch {
	case m.path == "":
		return usagef("no model given: -m %s (`infer pull` gets one and prints its folder)", modelArgument)
	case m.threads < 0 || m.threads > 1024:
		return usagef("-t %d: expected 0 (all processors) to 1024", m.threads)
	}
	if err := checkISA(m.isa); err != nil {
		return err
	}
	return checkActivations(m.activations)
}

// checkISA refuses names that no machine has. One that only this machine lacks
// is no mistake of the call, and fails when the model is opened.
func checkISA(name string) error {
	known := []string{"", "auto"}
	for i := simd.Portable; i <= simd.AVX512; i++ {
		known = append(known, i.String())
	}
	if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return usagef("--isa %s: expected one of %s", name, strings.Join(known[1:], ", "))
	}
	return nil
}

// options are those of pkg/llama.
func (m *modelFlags) options() *llama.Options {
	o := &llama.Options{Threads: m.threads, ISA: m.isa, Activations: m.activations, Pin: m.mlock}
	if m.huge {
		o.Memory = safetensors.Huge
	}
	return o
}

// open opens the model, says what --mlock could not do, and returns how long
// opening took.
func (m *modelFlags) open(c *console) (*llama.Model, time.Duration, error) {
	m.threads = processors(c, m.threads)
	start := time.Now()
	model, err := llama.Open(m.path, m.options())
	if err != nil {
		return nil, 0, err
	}
	took := time.Since(start)
	if p := model.Info().Pinned; m.mlock && p.Bytes < p.Wanted {
		c.note("pinned %s of %s: %v", size(p.Bytes), size(p.Wanted), p.Reason)
	}
	return model, took, nil
}
