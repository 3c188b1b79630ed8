package quant

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestSameBytesEverywhere: encoding gives the same bytes on every processor,
// whether or not it fuses multiplications and additions.
func TestSameBytesEverywhere(t *testing.T) {
	const rows, cols = 24, 256
	state := uint64(1)
	next := func() float32 { // SplitMix64
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return float32(int64(z^z>>31)>>40) / (1 << 23)
	}
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = next() * next() * next()
	}
	for f, want := range map[Format]string{
		Q8B32:  "bfded769215f5caefd2b29295daf9b42922c03362039a1724ffbb15f84d5dd84",
		Q4B32:  "94f3fc554f194d663a26379124bc356dc2229df6a0e74ea787df323ab1037f71",
		Q4B32M: "b687d0149024ac2c39a7c48b5665963f87ccb4dec0ef3f8e07538021eef35f41",
	} {
		sum := sha256.Sum256(encode(t, f, rows, cols, w))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%v: digest %s, want %s", f, got, want)
		}
	}
}
