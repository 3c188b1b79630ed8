package ggml

import (
	"encoding/binary"
	"math"

	"github.com/leveret-os/leveret/internal/half"
)

func f16At(b []byte) float32 { return half.FromF16(binary.LittleEndian.Uint16(b)) }

func f32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func f16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = f16At(src[2*i:])
	}
}

func bf16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half.FromBF16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// q4_0: scale, 16 bytes; weight i is in the low nibble of byte i, weight 16+i
// in the high one.
func q4_0(dst []float32, b []byte) {
	d := f16At(b)
	for i, q := range b[2:18] {
		dst[i] = float32(int(q&15)-8) * d
		dst[16+i] = float32(int(q>>4)-8) * d
	}
}

// q4_1: scale, minimum, nibbles as in q4_0.
func q4_1(dst []float32, b []byte) {
	d, m := f16At(b), f16At(b[2:])
	for i, q := range b[4:20] {
		dst[i] = float32(float32(q&15)*d) + m
		dst[16+i] = float32(float32(q>>4)*d) + m
	}
}

// q5_0: scale, the fifth bits of the 32 weights, nibbles as in q4_0.
func q5_0(dst []float32, b []byte) {
	d, high := f16At(b), binary.LittleEndian.Uint32(b[2:])
	for i, q := range b[6:22] {
		dst[i] = float32(int(q&15)|int(high>>i&1)<<4-16) * d
		dst[16+i] = float32(int(q>>4)|int(high>>(16+i)&1)<<4-16) * d
	}
}

// q5_1: scale, minimum, the fifth bits, nibbles as in q4_0.
func q5_1(dst []float32, b []byte) {
	d, m, high := f16At(b), f16At(b[2:]), binary.LittleEndian.Uint32(b[4:])
	for i, q := range b[8:24] {
		dst[i] = float32(float32(uint32(q&15)|high>>i&1<<4)*d) + m
		dst[16+i] = float32(float32(uint32(q>>4)|high>>(16+i)&1<<4)*d) + m
	}
}

// q8_0: scale, 32 signed bytes.
func q8_0(dst []float32, b []byte) {
	d := f16At(b)
	for i, q := range b[2:34] {
		dst[i] = float32(int8(q)) * d
	}
}

// scaleMin returns the 6-bit scale and minimum of sub-block j (0…7) from the
// 12 bytes of a Q4_K or Q5_K block.
func scaleMin(j int, b []byte) (scale, minimum byte) {
	if j < 4 {
		return b[j] & 63, b[j+4] & 63
	}
	return b[j+4]&15 | b[j-4]>>6<<4, b[j+4]>>4 | b[j]>>6<<4
}

// q4_K: scale of scales, scale of minimums, 12 bytes of 6-bit scales and
// minimums, then for each pair of sub-blocks of 32 weights 32 bytes: the
// first one's weights in the low nibbles, the second one's in the high.
func q4_K(dst []float32, b []byte) {
	d, dmin := f16At(b), f16At(b[2:])
	for j := range 8 {
		s, m := scaleMin(j, b[4:16])
		ds, dm := float32(d*float32(s)), float32(dmin*float32(m))
		shift := 4 * (j & 1)
		for i, q := range b[16+32*(j/2):][:32] {
			dst[32*j+i] = float32(ds*float32(q>>shift&15)) - dm
		}
	}
}

// q5_K: as q4_K, with 32 bytes of fifth bits before the nibbles: bit j of byte
// i is that of weight i of sub-block j.
func q5_K(dst []float32, b []byte) {
	d, dmin := f16At(b), f16At(b[2:])
	high := b[16:48]
	for j := range 8 {
		s, m := scaleMin(j, b[4:16])
		ds, dm := float32(d*float32(s)), float32(dmin*float32(m))
		shift := 4 * (j & 1)
		for i, q := range b[48+32*(j/2):][:32] {
			dst[32*j+i] = float32(ds*float32(q>>shift&15|high[i]>>j&1<<4)) - dm
		}
	}
}

// q6_K: 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed
// scales of 16 weights each, and the scale of scales. Each half of 128 weights
// has 64 bytes of nibbles and 32 of pairs; pair p of byte i belongs to weight
// 32p+i of the half.
func q6_K(dst []float32, b []byte) {
	d := f16At(b[208:])
	for h := range 2 {
		low, high, scales := b[64*h:][:64], b[128+32*h:][:32], b[192+8*h:][:8]
		for p := range 4 {
			for i := range 32 {
				q := low[32*(p&1)+i]>>(4*(p>>1))&15 | high[i]>>(2*p)&3<<4
				ds := float32(d * float32(int8(scales[2*p+i/16])))
				dst[128*h+32*p+i] = ds * float32(int(q)-32)
			}
		}
	}
}
