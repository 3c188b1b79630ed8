package llama

import (
	"context"
	"fmt"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// BenchmarkRows computes several tokens of one session in a pass, each with its
// logits, as speculation does; passes is the time over that of one token alone.
func BenchmarkRows(b *testing.B) {
	for _, form := range []string{"bf16", "q8b32", "q4b32m"} {
		for _, isa := range []string{"avx512", "avx2"} {
			for _, threads := range []int{1, 2} {
				m := open(b, testmodel.Dir(b, form), &Options{Threads: threads, ISA: isa, Memory: safetensors.Huge})
				s := newSession(b, m, &SessionOptions{Context: 256})
				appendAll(b, s, make([]int, 128)...)
				logits := make([][]float32, 32)
				for i := range logits {
					logits[i] = make([]float32, m.config.VocabSize)
				}
				alone := 0.0
				for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 16, 17} {
					b.Run(fmt.Sprintf("%s/%s/threads=%d/rows=%d", form, isa, threads, n), func(b *testing.B) {
						rows := make([]row, n)
						for b.Loop() {
							for i := range rows {
								rows[i] = row{token: 30 + i, pos: 128 + i, kv: s.kv, logits: logits[i]}
							}
							e, err := m.scheduler.acquire()
							if err == nil {
								err = e.forward(context.Background(), rows)
								m.scheduler.release()
							}
							if err != nil {
								b.Fatal(err)
							}
						}
						each := b.Elapsed().Seconds() / float64(b.N)
						if n == 1 {
							alone = each
						}
						b.ReportMetric(each/alone, "passes")
					})
				}
			}
		}
	}
}
