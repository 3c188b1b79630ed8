package llama

import (
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/fmath"
)

// ropeTable holds the rotary frequencies of a model (Su et al., "RoFormer"). It
// is immutable.
//
// Frequencies, angles, cosines and sines are rounded to float32 where PyTorch
// rounds them in transformers' modeling_rope_utils.py, since at long contexts
// the rounding of a frequency moves an angle visibly. The functions beneath are
// internal/fmath's, so a table has the same bits on every processor.
type ropeTable struct {
	invFreq   []float32 // headDim/2, radians per position
	attention float32   // multiplies cosines and sines; 1 except for yarn
}

// newRopeTable computes the frequencies of the model's RoPE and its scaling.
func newRopeTable(c *Config) (*ropeTable, error) {
	if c.HeadDim < 2 || c.HeadDim > maxHeadDim || c.HeadDim%2 != 0 {
		return nil, fmt.Errorf("%w: head_dim: want an even number from 2 to %d, found %d", ErrConfig, maxHeadDim, c.HeadDim)
	}
	t := &ropeTable{invFreq: make([]float32, c.HeadDim/2), attention: 1}
	theta := float64(float32(c.RopeTheta))
	for i := range t.invFreq {
		exponent := float32(2*i) / float32(c.HeadDim)
		t.invFreq[i] = 1 / float32(fmath.Pow(theta, float64(exponent)))
	}
	if s := c.RopeScaling; s != nil {
		switch s.Type {
		case RopeLinear:
			for i := range t.invFreq {
				t.invFreq[i] /= float32(s.Factor)
			}
		case RopeLlama3:
			t.scaleLlama3(s)
		case RopeYarn:
			t.scaleYarn(s, c.RopeTheta)
		default:
			return nil, fmt.Errorf("%w: rope type %q is not supported", ErrConfig, s.Type)
		}
	}
	for i, f := range t.invFreq {
		if !(f >= 0 && f <= math.MaxFloat32) {
			return nil, fmt.Errorf("%w: rope: frequency %d of %d is %v", ErrConfig, i, len(t.invFreq), f)
		}
	}
	return t, nil
}

// fill writes the cosines and sines of one position, headDim/2 of each, for
// simd's Rope. It does not allocate.
func (t *ropeTable) fill(pos int, cos, sin []float32) {
	for i, f := range t.invFreq {
		angle := float32(float32(pos) * f)
		s, c := fmath.Sincos(float64(angle))
		cos[i] = float32(c) * t.attention
		sin[i] = float32(s) * t.attention
	}
}

// scaleLlama3 divides the frequencies whose wavelength exceeds the original
// context over LowFreqFactor, keeps those below that over HighFreqFactor, and
// blends between.
func (t *ropeTable) scaleLlama3(s *RopeScaling) {
	const turn = float32(2 * math.Pi)
	context, factor := float32(s.OriginalMaxPositionEmbeddings), float32(s.Factor)
	low, high := float32(s.LowFreqFactor), float32(s.HighFreqFactor)
	longest := float32(float64(s.OriginalMaxPositionEmbeddings) / s.LowFreqFactor)
	shortest := float32(float64(s.OriginalMaxPositionEmbeddings) / s.HighFreqFactor)
	width := float32(s.HighFreqFactor - s.LowFreqFactor)
	if width == 0 { // the factors differ by less than a float32 shows
		width = high - low
	}
	for i, f := range t.invFreq {
		wavelength := float32(1/f) * turn
		switch {
		case wavelength > longest:
			t.invFreq[i] = f / factor
		case wavelength < shortest:
		default:
			smooth := (float32(float32(1/wavelength)*context) - low) / width
			divided := float32((1-smooth)*f) / factor
			t.invFreq[i] = divided + float32(smooth*f)
		}
	}
}

// scaleYarn blends divided and kept frequencies along a ramp over the pairs,
// between those that turn BetaFast and BetaSlow times within the original
// context ("NTK-by-parts", section 3.2 of the paper).
func (t *ropeTable) scaleYarn(s *RopeScaling, theta float64) {
	dim := float64(2 * len(t.invFreq))
	// pair returns the (fractional) pair that turns so many times.
	pair := func(turns float64) float64 {
		return dim * fmath.Log(float64(s.OriginalMaxPositionEmbeddings)/(turns*2*math.Pi)) / (2 * fmath.Log(theta))
	}
	low, high := pair(s.BetaFast), pair(s.BetaSlow)
	if !s.NoTruncate {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, dim-1)
	if low == high {
		high += 0.001
	}
	for i, f := range t.invFreq {
		ramp := (float32(i) - float32(low)) / float32(high-low)
		kept := 1 - min(max(ramp, 0), 1)
		divided := 1 / float32(float32(s.Factor)*float32(1/f))
		t.invFreq[i] = float32(divided*(1-kept)) + float32(f*kept)
	}
	t.attention = float32(s.AttentionFactor)
}
