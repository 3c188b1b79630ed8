package main

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	pageSize = 4 << 10
	hugeSize = 2 << 20
	mib      = 1 << 20

	thpFile = "/sys/kernel/mm/transparent_hugepage/enabled"
)

// madviseNone leaves a region as it was mapped.
const madviseNone = -1

var memoryWorkloads = []workload{
	{"touch-4k", "us/MiB", "first write to each 4 KiB page of 16 MiB, mapped before", func(n int, sample func(float64)) error {
		return touchRegion(n, sample, 16*mib, unix.MADV_NOHUGEPAGE, false)
	}},
	{"touch-2m", "us/MiB", "first write to each 4 KiB page of 32 MiB that may have 2 MiB pages, mapped before", func(n int, sample func(float64)) error {
		return touchRegion(n, sample, 32*mib, unix.MADV_HUGEPAGE, false)
	}},
	{"mmap", "us/MiB", "map 8 MiB as they are given, write to each page, unmap", func(n int, sample func(float64)) error {
		return touchRegion(n, sample, 8*mib, madviseNone, true)
	}},
	{"munmap", "us/MiB", "unmap 16 MiB of written 4 KiB pages", func(n int, sample func(float64)) error {
		for range n {
			r, err := mapRegion(16*mib, unix.MADV_NOHUGEPAGE)
			if err != nil {
				return err
			}
			r.touch()
			start := time.Now()
			if err := r.unmap(); err != nil {
				return err
			}
			sample(usPerMiB(time.Since(start), 16*mib))
		}
		return nil
	}},
	{"weights", "us/MiB", "first write to each 4 KiB page of 256 MiB", func(n int, sample func(float64)) error {
		return touchRegion(min(n, 5), sample, 256*mib, unix.MADV_NOHUGEPAGE, false)
	}},
	{"weights-tail", "us", "the slowest single write of that region", func(n int, sample func(float64)) error {
		return slowestTouch(min(n, 5), sample, 256*mib, unix.MADV_NOHUGEPAGE)
	}},
	{"weights-huge", "us/MiB", "the same region after madvise(MADV_HUGEPAGE)", func(n int, sample func(float64)) error {
		return touchRegion(min(n, 10), sample, 256*mib, unix.MADV_HUGEPAGE, false)
	}},
	{"weights-huge-tail", "us", "the slowest single write there, over the 512 pages that it may bring", func(n int, sample func(float64)) error {
		return slowestTouch(min(n, 10), func(v float64) { sample(v / (hugeSize / pageSize)) }, 256*mib, unix.MADV_HUGEPAGE)
	}},
}

// A region is private anonymous memory; data is its part from the first 2 MiB
// border on, so that 2 MiB pages can take all of it.
type region struct {
	mapped, data []byte
}

// mapRegion maps size bytes of anonymous memory and gives the advice.
func mapRegion(size, advice int) (region, error) {
	mapped, err := unix.Mmap(-1, 0, size+hugeSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return region{}, err
	}
	skip := int(-address(mapped) & (hugeSize - 1))
	r := region{mapped, mapped[skip : skip+size : skip+size]}
	if advice == madviseNone {
		return r, nil
	}
	if err := unix.Madvise(r.data, advice); err != nil {
		r.unmap()
		return region{}, err
	}
	return r, nil
}

// touch writes one byte to each page.
func (r region) touch() {
	for i := 0; i < len(r.data); i += pageSize {
		r.data[i] = 1
	}
}

func (r region) unmap() error { return unix.Munmap(r.mapped) }

// touchRegion takes n samples of the first touch of a new region, with mapping
// and unmapping it when whole is set.
func touchRegion(n int, sample func(float64), size, advice int, whole bool) error {
	for range n {
		start := time.Now()
		r, err := mapRegion(size, advice)
		if err != nil {
			return err
		}
		if !whole {
			start = time.Now()
		}
		r.touch()
		took := time.Since(start)
		if err := r.unmap(); err != nil {
			return err
		}
		if whole {
			took = time.Since(start)
		}
		sample(usPerMiB(took, size))
	}
	return nil
}

// slowestTouch takes n samples, in microseconds, of the slowest first write to
// a page of a new region.
func slowestTouch(n int, sample func(float64), size, advice int) error {
	for range n {
		r, err := mapRegion(size, advice)
		if err != nil {
			return err
		}
		var slowest time.Duration
		last := time.Now()
		for i := 0; i < len(r.data); i += pageSize {
			r.data[i] = 1
			now := time.Now()
			slowest = max(slowest, now.Sub(last))
			last = now
		}
		if err := r.unmap(); err != nil {
			return err
		}
		sample(float64(slowest.Nanoseconds()) / 1e3)
	}
	return nil
}

func usPerMiB(d time.Duration, size int) float64 {
	return float64(d.Nanoseconds()) / 1e3 / (float64(size) / mib)
}
