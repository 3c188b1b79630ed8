package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/gguf"
)

// ropeScaling returns the rope_scaling of config.json, nil for none.
func (m *ggufModel) ropeScaling() (any, error) {
	r := &metadataReader{file: m.file, prefix: m.name + ".rope."}
	one := 1.0
	if f := r.float("scaling.attn_factor", &one); f != 1 {
		r.fail("scaling.attn_factor", ErrUnsupported, "%v, want 1", f)
	}
	linear := r.float("scale_linear", &one) // before rope.scaling.type
	kind, err := m.file.Text(m.name + ".rope.scaling.type")
	switch {
	case errors.Is(err, gguf.ErrNotFound):
		kind = "none"
		if _, ok := m.file.Value(m.name + ".rope.scaling.factor"); ok {
			kind = "linear"
		} else if linear != 1 {
			kind = "scale_linear"
		}
	case err != nil:
		return nil, fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}

	var scaling object
	switch kind {
	case "none":
	case "scale_linear":
		scaling = object{{"rope_type", "linear"}, {"factor", float32Number(linear)}}
	case "linear":
		scaling = object{{"rope_type", "linear"}, {"factor", float32Number(r.float("scaling.factor", nil))}}
	case "yarn":
		scaling = m.yarn(r)
	default:
		r.fail("scaling.type", ErrUnsupported, "%q, want none, linear or yarn", kind)
	}
	if r.err != nil {
		return nil, r.err
	}
	if _, ok := m.file.Tensor(ropeFactors); ok {
		if scaling != nil {
			return nil, fmt.Errorf("checkpoint: GGUF tensor %q together with %s scaling: %w", ropeFactors, kind, ErrUnsupported)
		}
		return m.llama3Scaling()
	}
	if scaling == nil {
		return nil, nil
	}
	return scaling, nil
}

// yarn returns the parameters of YaRN as Hugging Face names them.
func (m *ggufModel) yarn(r *metadataReader) object {
	s := object{{"rope_type", "yarn"}, {"factor", float32Number(r.float("scaling.factor", nil))}}
	if n := r.sizeOr("scaling.original_context_length", 0); n > 0 {
		s.set("original_max_position_embeddings", n)
	}
	one := 1.0
	if f := r.float("scaling.yarn_ext_factor", &one); f != 1 {
		r.fail("scaling.yarn_ext_factor", ErrUnsupported, "%v, want 1", f)
	}
	for _, k := range []struct{ gguf, hf string }{
		{"yarn_beta_fast", "beta_fast"}, {"yarn_beta_slow", "beta_slow"}, {"yarn_attn_factor", "attention_factor"},
	} {
		missing := math.Inf(1)
		if f := r.float("scaling."+k.gguf, &missing); f != missing {
			s.set(k.hf, float32Number(f))
		}
	}
	return s
}

// llama3Scaling finds the parameters of Llama 3's RoPE scaling (Llama 3.1's
// modeling code; transformers' modeling_rope_utils.py) that give the factors
// which the file holds, one for each pair of a head, by which the pair's
// frequency is divided: 1 for high frequencies, factor for low ones, and in
// between 1/((1−s)/factor + s) with s = (original/wavelength − low)/(high − low).
//
// The factors fix only the ratios of original, low and high. Of the many
// spellings the one with original = 8192, that of every Llama, is taken.
func (m *ggufModel) llama3Scaling() (any, error) {
	want, err := m.ropeFactors()
	if err != nil {
		return nil, err
	}
	s := llama3{factor: float64(want[len(want)-1]), low: 1, high: 4, original: 8192}
	if s.factor == 1 && s.gives(want, m.theta) {
		return nil, nil
	}
	if !s.gives(want, m.theta) && (!s.fit(want, m.theta) || !s.gives(want, m.theta)) {
		return nil, fmt.Errorf("checkpoint: GGUF tensor %q: %w: its factors, %v to %v, are not Llama 3's RoPE scaling", ropeFactors, ErrUnsupported, want[0], want[len(want)-1])
	}
	return object{
		{"rope_type", "llama3"},
		{"factor", float32Number(s.factor)},
		{"low_freq_factor", float32Number(s.low)},
		{"high_freq_factor", float32Number(s.high)},
		{"original_max_position_embeddings", s.original},
	}, nil
}

// ropeFactors returns the factors, of which there is one for each pair.
func (m *ggufModel) ropeFactors() ([]float32, error) {
	t, data, err := m.file.Data(ropeFactors)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if t.Type != ggml.F32 || t.Elements() != uint64(m.headDim/2) || m.headDim < 2 {
		return nil, fmt.Errorf("checkpoint: GGUF tensor %q: %w: type %s, dimensions %d, want F32, %d", ropeFactors, ErrShape, gguf.TypeName(t.Type), t.Dims, m.headDim/2)
	}
	f := make([]float32, m.headDim/2)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if !(f[i] >= 1 && f[i] <= math.MaxFloat32) {
			return nil, fmt.Errorf("checkpoint: GGUF tensor %q: %w: element %d is %v, want a number from 1 on", ropeFactors, ErrMetadata, i, f[i])
		}
	}
	return f, nil
}

type llama3 struct {
	factor, low, high float64
	original          int
}

// cycles returns original/wavelength of pair i of n.
func (s *llama3) cycles(theta float64, i, n int) float64 {
	wavelength := 2 * math.Pi * math.Pow(theta, float64(i)/float64(n))
	return float64(s.original) / wavelength
}

// gives reports whether the parameters give the factors, within the rounding
// of a converter that computes them in float32.
func (s *llama3) gives(want []float32, theta float64) bool {
	for i, w := range want {
		c := s.cycles(theta, i, len(want))
		f := s.factor
		switch {
		case c > s.high:
			f = 1
		case c >= s.low:
			smooth := (c - s.low) / (s.high - s.low)
			f = 1 / ((1-smooth)/s.factor + smooth)
		}
		if math.Abs(f-float64(w)) > 1e-3*f {
			return false
		}
	}
	return true
}

// fit finds low and high from two factors of the ramp, on which
// cycles/(high − low) − low/(high − low) is linear.
func (s *llama3) fit(want []float32, theta float64) bool {
	var c, smooth []float64
	for i, w := range want {
		if w > 1 && float64(w) < s.factor {
			c = append(c, s.cycles(theta, i, len(want)))
			smooth = append(smooth, (1/float64(w)-1/s.factor)/(1-1/s.factor))
		}
	}
	n := len(c)
	if n < 2 || c[0] == c[n-1] || smooth[0] == smooth[n-1] {
		return false
	}
	span := (c[0] - c[n-1]) / (smooth[0] - smooth[n-1])
	s.low = c[0] - smooth[0]*span
	s.high = s.low + span
	for _, v := range []*float64{&s.low, &s.high} {
		if r := math.Round(*v*8) / 8; math.Abs(*v-r) < 1e-2 {
			*v = r
		}
	}
	return s.low > 0 && s.high > s.low
}
