package main

import (
	"runtime"
	"time"

	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/pkg/checkpoint"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// readTime is how long a plain read is measured for, at least.
const readTime = 100 * time.Millisecond

// weightBytes are the weights that one token has to read.
type weightBytes struct {
	checkpoint *checkpoint.Checkpoint
	data       [][]byte
	bytes      int64
}

// openWeights opens a model's weights once more, in the same kind of pages.
func openWeights(m *modelFlags) (*weightBytes, error) {
	o := &checkpoint.Options{}
	if m.huge {
		o.Memory = safetensors.Huge
	}
	c, err := checkpoint.Open(m.path, o)
	if err != nil {
		return nil, err
	}
	w := &weightBytes{checkpoint: c}
	names := c.Names()
	untied := false
	for _, n := range names {
		untied = untied || n == "lm_head.weight"
	}
	for _, n := range names {
		if untied && n == "model.embed_tokens.weight" {
			continue // a token reads one row of it
		}
		t, err := c.Tensor(n)
		if err != nil {
			c.Close()
			return nil, err
		}
		w.data = append(w.data, t.Data)
		w.bytes += int64(len(t.Data))
	}
	return w, nil
}

func (w *weightBytes) close() { w.checkpoint.Close() }

// read reads all bytes, over and over for about the given time, each thread a
// part of every tensor, with the loads of an instruction set, and returns the
// bytes read in a second.
func (w *weightBytes) read(isa simd.ISA, threads int, atLeast time.Duration) float64 {
	return simd.New(isa).ReadRate(w.data, threads, atLeast)
}

// defaultThreads are one thread and all processors.
func defaultThreads() []int {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return []int{1, n}
	}
	return []int{1}
}
