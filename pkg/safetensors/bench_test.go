package safetensors

import (
	"fmt"
	"path/filepath"
	"testing"
)

// like135M writes a checkpoint with as many tensors as a Llama model of 30
// layers has, small ones.
func like135M(b *testing.B, shards int64) string {
	b.Helper()
	var sources []Source
	for layer := range 30 {
		for _, part := range []string{"input_layernorm", "mlp.down_proj", "mlp.gate_proj", "mlp.up_proj",
			"post_attention_layernorm", "self_attn.k_proj", "self_attn.o_proj", "self_attn.q_proj", "self_attn.v_proj"} {
			sources = append(sources, Source{
				Name: fmt.Sprintf("model.layers.%d.%s.weight", layer, part), DType: BF16, Shape: []uint64{576, 16},
				Data: make([]byte, 2*576*16),
			})
		}
	}
	path := filepath.Join(b.TempDir(), singleName)
	var opts *WriteOptions
	if shards > 1 {
		opts = &WriteOptions{MaxShard: int64(len(sources)) * 2 * 576 * 16 / shards}
	}
	if err := Write(path, sources, nil, opts); err != nil {
		b.Fatal(err)
	}
	return filepath.Dir(path)
}

func BenchmarkOpen(b *testing.B) {
	for _, shards := range []int64{1, 5} {
		dir := like135M(b, shards)
		for _, m := range []Memory{Mapped, Private, Huge} {
			b.Run(fmt.Sprintf("shards=%d/%v", shards, m), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f, err := Open(dir, &Options{Memory: m})
					if err != nil {
						b.Fatal(err)
					}
					if err := f.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkParseHeader(b *testing.B) {
	for _, n := range []int{300, 3_000, 30_000} {
		b.Run(fmt.Sprintf("tensors=%d", n), func(b *testing.B) {
			text := []byte{'{'}
			for i := range n {
				text = fmt.Appendf(text, `"model.layers.%d.weight":{"dtype":"U8","shape":[1,1],"data_offsets":[%d,%d]},`, i, i, i+1)
			}
			text[len(text)-1] = '}'
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseHeader(text, uint64(n)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFloat32s(b *testing.B) {
	dst, data := make([]float32, 1<<14), make([]byte, 1<<17)
	for _, d := range []DType{F4, F6_E2M3, F8_E4M3, F16, BF16, F32, F64} {
		b.Run(d.String(), func(b *testing.B) {
			b.SetBytes(int64(len(dst) * d.Bits() / 8))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Float32s(dst, data, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
