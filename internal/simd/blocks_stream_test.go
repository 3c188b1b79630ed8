//go:build linux && amd64 && !noasm

package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// pages returns n bytes of memory in pages of 2 MiB, if huge and the system
// gives them, or of 4 KiB.
func pages(b *testing.B, n int, huge bool) []byte {
	const size = 2 << 20
	m, err := syscall.Mmap(-1, 0, n+size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { syscall.Munmap(m) })
	advice := 15 // MADV_NOHUGEPAGE
	if huge {
		advice = 14 // MADV_HUGEPAGE
	}
	if err := syscall.Madvise(m, advice); err != nil {
		b.Logf("madvise: %v", err)
	}
	skip := -int(uintptr(unsafe.Pointer(&m[0]))) & (size - 1)
	return m[skip : skip+n]
}

// BenchmarkStreamBlocks multiplies 144 MiB of weights with one token, as
// decoding does, and compares the rate with plain reads of the same memory
// between its rounds: MB/s is the kernel's, "of-read" its share of the read's,
// medians of parts of one MiB.
func BenchmarkStreamBlocks(b *testing.B) {
	const cols = 576
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, huge := range []bool{true, false} {
		memory := pages(b, 144<<20, huge)
		for _, isa := range assembly(b) {
			read := readMemoryAVX512
			if isa == AVX2 {
				read = readMemoryAVX2
			}
			for _, kind := range kinds {
				part := (1 << 20) / kind.TileBytes(cols) * kind.TileBytes(cols)
				rows := part / kind.TileBytes(cols) * 16
				w := randomBlocks(rnd, kind, rows, cols)
				data := memory[:len(memory)/part*part]
				for o := 0; o < len(data); o += part {
					copy(data[o:], w)
				}
				name := "4KiB"
				if huge {
					name = "2MiB"
				}
				for _, tokens := range []int{4, 5, 6, 8} {
					b.Run(fmt.Sprintf("%s/%v/%v/tokens=%d", name, isa, kind, tokens), func(b *testing.B) {
						k := kernelsOf(b, isa)
						var a Acts
						k.Quantize(&a, randomActs(rnd, tokens*cols), cols, cols, tokens)
						dst := make([]float32, rows*tokens)
						b.SetBytes(int64(len(data)))
						var reads, products []time.Duration
						for b.Loop() {
							b.StopTimer()
							for o := 0; o < len(data); o += part {
								start := time.Now()
								read(&data[o], part&^511)
								reads = append(reads, time.Since(start))
							}
							b.StartTimer()
							for o := 0; o < len(data); o += part {
								start := time.Now()
								k.MatMulBlocks(kind, dst, rows, data[o:o+part], rows, &a)
								products = append(products, time.Since(start))
							}
						}
						slices.Sort(reads)
						slices.Sort(products)
						r, p := reads[len(reads)/2], products[len(products)/2]
						b.ReportMetric(float64(part)/p.Seconds()/1e9, "GB/s")
						b.ReportMetric(r.Seconds()/p.Seconds(), "of-read")
					})
				}
			}
		}
	}
}
