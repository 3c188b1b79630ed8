package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/leveret-os/leveret/internal/simd"
	"golang.org/x/sys/unix"
)

var vectorWorkers = []worker{
	{"dots", dots},
}

const (
	dotRows = 64
	dotCols = 512
)

// dotInput is the same for all, and so is what comes out.
var dotInput = sync.OnceValue(func() (in struct{ w, x, want []float32 }) {
	rng := rand.New(rand.NewPCG(7, 7))
	in.w, in.x = make([]float32, dotRows*dotCols), make([]float32, dotCols)
	for i := range in.w {
		in.w[i] = rng.Float32() - 0.5
	}
	for i := range in.x {
		in.x[i] = rng.Float32() - 0.5
	}
	in.want = make([]float32, dotRows)
	simd.New(simd.Portable).Dots(in.want, dotRows, in.w, dotCols, dotRows, dotCols, in.x, dotCols, 1)
	return in
})

// dots computes dot products in vector registers, with system calls in
// between, and compares every bit with the portable code's.
func dots(_ context.Context, _ int, _ *rand.Rand) error {
	in := dotInput()
	kernels := simd.New(simd.Best())
	got := make([]float32, dotRows)
	for range 50 {
		clear(got)
		kernels.Dots(got, dotRows, in.w, dotCols, dotRows, dotCols, in.x, dotCols, 1)
		unix.Getppid()
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(in.want[i]) {
				return fmt.Errorf("%v: dot product %d is %v, want %v", kernels.ISA(), i, got[i], in.want[i])
			}
		}
	}
	return nil
}
