package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

var memoryWorkers = []worker{
	{"mappings", mappings},
	{"collector", collect},
}

// mappings writes a pattern to anonymous memory of random size, gives parts of
// it back in random ways, and sees that the rest is untouched and that what was
// given back is zero.
func mappings(_ context.Context, n int, rng *rand.Rand) error {
	pages := 1 + rng.IntN(1500)
	mem, err := unix.Mmap(-1, 0, pages*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("mmap of %d pages: %w", pages, err)
	}
	defer unix.Munmap(mem)
	if rng.IntN(2) == 0 {
		if err := unix.Madvise(mem, unix.MADV_HUGEPAGE); err != nil {
			return fmt.Errorf("madvise(MADV_HUGEPAGE): %w", err)
		}
	}
	want := make([]byte, pages) // of each page's first and last byte
	fill := func(p int, v byte) {
		mem[p*pageSize], mem[p*pageSize+pageSize-1], want[p] = v, v, v
	}
	for p := range pages {
		if rng.IntN(4) != 0 {
			fill(p, byte(rng.IntN(255))+1)
		}
	}
	for range 8 {
		from := rng.IntN(pages)
		to := from + 1 + rng.IntN(pages-from)
		part := mem[from*pageSize : to*pageSize]
		switch rng.IntN(3) {
		case 0:
			if err := unix.Madvise(part, unix.MADV_DONTNEED); err != nil {
				return fmt.Errorf("madvise(MADV_DONTNEED): %w", err)
			}
			clear(want[from:to])
		case 1:
			if err := unix.Mprotect(part, unix.PROT_READ); err != nil {
				return fmt.Errorf("mprotect: %w", err)
			}
			if err := unix.Mprotect(part, unix.PROT_READ|unix.PROT_WRITE); err != nil {
				return fmt.Errorf("mprotect back: %w", err)
			}
		default:
			for p := from; p < to; p++ {
				fill(p, byte(rng.IntN(255))+1)
			}
		}
	}
	for p := range pages {
		if a, b := mem[p*pageSize], mem[p*pageSize+pageSize-1]; a != want[p] || b != want[p] {
			return fmt.Errorf("page %d of %d: first and last byte %d, %d, want %d", p, pages, a, b, want[p])
		}
	}
	return nil
}

// collect makes garbage that the collector has to find its way through.
func collect(_ context.Context, _ int, rng *rand.Rand) error {
	kept := map[int][]byte{}
	for range 200 {
		k := rng.IntN(50)
		b := make([]byte, 1+rng.IntN(20_000))
		for i := range b {
			b[i] = byte(k)
		}
		kept[k] = b
	}
	for k, b := range kept {
		for i, v := range b {
			if v != byte(k) {
				return fmt.Errorf("byte %d of %d is %d, want %d", i, len(b), v, byte(k))
			}
		}
	}
	return nil
}
