package llama

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// BenchmarkDecode generates tokens at a context of 128; B/s is the bytes of
// weights read.
func BenchmarkDecode(b *testing.B) {
	for _, form := range []string{"f32", "bf16", "q8b32", "q4b32m"} {
		for _, memory := range []safetensors.Memory{safetensors.Mapped, safetensors.Huge} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%v/threads=%d", form, memory, threads), func(b *testing.B) {
					m := open(b, testmodel.Dir(b, form), &Options{Threads: threads, Memory: memory})
					s := newSession(b, m, nil)
					appendAll(b, s, make([]int, 128)...)
					b.SetBytes(m.Info().Bytes)
					b.ReportAllocs()
					id := []int{30}
					for b.Loop() {
						if err := s.Append(context.Background(), id); err != nil {
							b.Fatal(err)
						}
						if s.Len() == 256 {
							b.StopTimer()
							if err := s.Truncate(128); err != nil {
								b.Fatal(err)
							}
							b.StartTimer()
						}
					}
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
				})
			}
		}
	}
}

// BenchmarkPrefill computes prompts of 512 tokens.
func BenchmarkPrefill(b *testing.B) {
	for _, form := range []string{"f32", "bf16", "q8b32", "q4b32m", "q8b32-int8", "q4b32m-int8"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", form, threads), func(b *testing.B) {
				form, acts, _ := strings.Cut(form, "-")
				m := open(b, testmodel.Dir(b, form), &Options{Threads: threads, Activations: acts})
				s := newSession(b, m, nil)
				prompt := make([]int, 512)
				for i := range prompt {
					prompt[i] = (i*7919+13)%40000 + 100
				}
				for b.Loop() {
					if err := s.Truncate(0); err != nil {
						b.Fatal(err)
					}
					appendAll(b, s, prompt...)
				}
				b.ReportMetric(float64(b.N*len(prompt))/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

// BenchmarkBatch decodes with several sessions of one model at once.
func BenchmarkBatch(b *testing.B) {
	for _, form := range []string{"bf16", "q8b32", "q4b32m"} {
		for _, sessions := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/sessions=%d", form, sessions), func(b *testing.B) {
				m := open(b, testmodel.Dir(b, form), &Options{Memory: safetensors.Huge})
				all := make([]*Session, sessions)
				for i := range all {
					all[i] = newSession(b, m, &SessionOptions{Context: 512})
				}
				const tokens = 64
				for b.Loop() {
					var wg sync.WaitGroup
					for i, s := range all {
						wg.Go(func() {
							if err := s.Truncate(0); err != nil {
								b.Error(err)
							}
							for _, err := range s.Generate(context.Background(), []int{504, 3575, 282, 4649, 314, i}, &GenerateOptions{MaxTokens: tokens, IgnoreEOS: true}) {
								if err != nil {
									b.Error(err)
								}
							}
						})
					}
					wg.Wait()
				}
				b.ReportMetric(float64(b.N*tokens*sessions)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}
