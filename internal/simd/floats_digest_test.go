package simd

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"testing"
)

// floatDigests are the SHA-256 of what each kernel makes of fixed inputs. They
// hold for every instruction set, architecture and GOAMD64 level: a change is a
// change of the arithmetic, and so of docs/arithmetic.md and of every result.
var floatDigests = map[string]string{
	"MatMul/f32":  "2e6ede280c636b475cb638c31b60fc46bf6778d19df92d0497252ba137cf275f",
	"MatMul/f16":  "88121ee4476d7831d6f80954dc3872c3997951deb54e2d52a416388f1a5262ca",
	"MatMul/bf16": "73c273c6c56a23005ff39df3d31a971b602daed27d98de917ca2fc0e98417198",
	"Dots":        "b658cc02e68afa47d4683e3878fba7e3bc97df800f49e40a7072342034a2db6c",
	"WeightedSum": "7a212d5af4243bb43a5e1097d317a4e66d2088849ba177ff41cacbccd4d7e031",
	"RMSNorm":     "b2951612314e581634d04046a684f88b7106ba5c77723b859397d2c2eae319cd",
	"Softmax":     "72bbd2504ee55709c312e7b2a428efd4009622340ac68e08a7d2edac298228af",
	"SiLUMul":     "e7a7c469211c98ddd6f9b16a6fbd4fc9ea6d3881ee2867011ea21bc5a3d0d8f8",
	"Rope":        "c19374aabad01d6034953d8887b3ec1c8dffded8e3eaae30c91a0df431f0338e",
	"Add":         "b092dd662c6a0a30d4c7572c1109a69e709b5c7ec93df3d70aca3eab389a211e",
}

// digestInput returns numbers in (−8, 8) with 24 bits and, if asked for, a few
// of any size. They are made without arithmetic that rounds.
func digestInput(r *rand.Rand, n int, odd bool) []float32 {
	f := make([]float32, n)
	for i := range f {
		if b := r.Uint32(); odd && b%599 == 0 {
			f[i] = math.Float32frombits(r.Uint32())
		} else {
			f[i] = float32(int32(b)>>8) * 0x1p-20
		}
	}
	return f
}

func digestFloats(h hash.Hash, f []float32) {
	for _, v := range f {
		b := math.Float32bits(v)
		if v != v {
			b = 0x7fc00000 // payloads may differ
		}
		var le [4]byte
		binary.LittleEndian.PutUint32(le[:], b)
		h.Write(le[:])
	}
}

func TestFloatDigests(t *testing.T) {
	for _, isa := range append(assembly(t), Portable) {
		k := kernelsOf(t, isa)
		for name, want := range floatDigests {
			t.Run(fmt.Sprintf("%v/%s", isa, name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(41, 42))
				h := sha256.New()
				for round := range 6 {
					const rows, n = 21, 7
					cols := []int{64, 100, 576}[round/2]
					in := func(n int) []float32 { return digestInput(r, n, round%2 == 1) }
					dst := in(n * max(rows, cols))
					switch name {
					case "MatMul/f32", "MatMul/f16", "MatMul/bf16":
						f := map[string]Float{"MatMul/f32": F32, "MatMul/f16": F16, "MatMul/bf16": BF16}[name]
						w := bytesOf(f, in(rows*cols))
						x := in(n * cols)
						k.MatMul(f, dst, rows, w, rows, cols, x, cols, n)
						digestFloats(h, dst[:n*rows])
						k.MatMul(f, dst, rows, w, rows, cols, x, cols, 1)
					case "Dots":
						k.Dots(dst, rows, in(rows*(cols+5)), cols+5, rows, cols, in(n*cols), cols, n)
					case "WeightedSum":
						k.WeightedSum(dst, cols, in(n*rows), rows, in(rows*(cols+3)), cols+3, rows, cols, n)
					case "RMSNorm":
						k.RMSNorm(dst[:cols], in(cols), in(cols), 1e-5)
					case "Softmax":
						k.Softmax(dst[:cols])
					case "SiLUMul":
						k.SiLUMul(dst[:cols], in(cols))
					case "Rope":
						k.Rope(dst[:cols*2], in(cols/2), in(cols/2))
					case "Add":
						k.Add(dst[:cols], in(cols))
					}
					digestFloats(h, dst)
				}
				if got := hex.EncodeToString(h.Sum(nil)); got != want {
					t.Errorf("%s: digest %q, want %q", name, got, want)
				}
			})
		}
	}
}
