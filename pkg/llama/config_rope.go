package llama

import (
	"maps"
	"math"
	"slices"

	"github.com/leveret-os/leveret/internal/fmath"
)

// RopeType names a way to scale rotary position embeddings.
type RopeType string

// The supported ways, by the names of transformers' modeling_rope_utils.py.
const (
	RopeLinear RopeType = "linear" // all frequencies divided by Factor (Chen et al., "Position Interpolation")
	RopeLlama3 RopeType = "llama3" // low frequencies divided, high ones kept, a ramp between (Llama 3.1)
	RopeYarn   RopeType = "yarn"   // ramp by rotations, and a temperature of attention (Peng et al., "YaRN")
)

// RopeScaling holds rope_scaling (or rope_parameters) of config.json. Fields
// that a type does not use are zero.
type RopeScaling struct {
	Type   RopeType
	Factor float64 // at least 1

	// OriginalMaxPositionEmbeddings is the context before scaling (llama3, yarn).
	OriginalMaxPositionEmbeddings int

	LowFreqFactor, HighFreqFactor float64 // llama3

	BetaFast, BetaSlow float64 // yarn: rotations at which the ramp begins and ends
	// AttentionFactor multiplies cosines and sines (yarn): as stated, or derived
	// from Factor, mscale and mscale_all_dim.
	AttentionFactor float64
	NoTruncate      bool // yarn: the ramp's ends are not rounded to whole pairs
}

// contextLength returns the positions that the scaling makes usable. In the
// linear form, max_position_embeddings is the length before scaling.
func (s *RopeScaling) contextLength(positions int) int {
	switch s.Type {
	case RopeLinear:
		return int(min(float64(positions)*s.Factor, maxPositions))
	case RopeYarn:
		return int(min(float64(s.OriginalMaxPositionEmbeddings)*s.Factor, maxPositions))
	}
	return positions
}

// ropeKeys are the keys that a rope object may have. Any other may change the
// computation and is refused.
var ropeKeys = map[string]bool{
	"type": true, "rope_type": true, "rope_theta": true, "partial_rotary_factor": true, "factor": true,
	"original_max_position_embeddings": true, "low_freq_factor": true, "high_freq_factor": true,
	"beta_fast": true, "beta_slow": true, "attention_factor": true, "mscale": true, "mscale_all_dim": true,
	"truncate": true, "finetuned": true, // the last is a note in the YaRN authors' checkpoints
}

// readRope reads rope_theta and rope_scaling, or the rope_parameters that
// transformers writes since version 5, which hold both.
func (c *Config) readRope(o *jsonObject) {
	c.RopeTheta = o.number("rope_theta", 10000)
	for _, key := range []string{"rope_parameters", "rope_scaling"} {
		r := o.object(key)
		if r == nil || len(r.members) == 0 {
			continue
		}
		s := c.readRopeObject(o, r)
		if key == "rope_scaling" && c.RopeScaling != nil && (s == nil || *s != *c.RopeScaling) {
			o.failf(key, "differs from rope_parameters")
		}
		if s != nil {
			c.RopeScaling = s
		}
	}
	if !(c.RopeTheta > 1) || math.IsInf(float64(float32(c.RopeTheta)), 0) {
		o.failf("rope_theta", "want a number above 1, found %v", c.RopeTheta)
	}
}

// readRopeObject returns nil for plain RoPE.
func (c *Config) readRopeObject(o, r *jsonObject) *RopeScaling {
	for _, key := range slices.Sorted(maps.Keys(r.members)) {
		if !ropeKeys[key] {
			r.failf(key, "is not supported")
		}
	}
	c.RopeTheta = r.number("rope_theta", c.RopeTheta)
	if f := r.number("partial_rotary_factor", 1); f != 1 {
		r.failf("partial_rotary_factor", "%v is not supported; want 1", f)
	}
	typ := r.text("rope_type", r.text("type", "default"))
	if old := r.text("type", typ); old != typ {
		r.failf("type", "%q differs from rope_type, %q", old, typ)
	}
	s := &RopeScaling{Type: RopeType(typ)}
	switch s.Type {
	case "default":
		return nil
	case RopeLinear, RopeLlama3, RopeYarn:
	default:
		key := "rope_type"
		if !r.present(key) {
			key = "type"
		}
		r.failf(key, "%q is not supported; supported are default, linear, llama3, yarn", typ)
		return nil
	}

	if s.Type != RopeLinear {
		s.readOriginal(o, r, c.MaxPositionEmbeddings)
	}
	if _, ok := r.raw("factor"); !ok && s.Type == RopeYarn && r.present("factor") {
		s.Factor = float64(c.MaxPositionEmbeddings) / float64(max(s.OriginalMaxPositionEmbeddings, 1))
	} else if s.Factor = r.number("factor", 0); !ok {
		r.failf("factor", "missing for rope type %q", typ)
	}
	if !(s.Factor >= 1 && s.Factor <= 1<<20) {
		r.failf("factor", "want 1 to %d, found %v", 1<<20, s.Factor)
	}
	switch s.Type {
	case RopeLlama3:
		s.readLlama3(r)
	case RopeYarn:
		s.readYarn(r)
	}
	return s
}

// readOriginal follows transformers: the top level's value comes first, then
// the object's, then max_position_embeddings.
func (s *RopeScaling) readOriginal(o, r *jsonObject, positions int) {
	const key = "original_max_position_embeddings"
	s.OriginalMaxPositionEmbeddings = r.size(key, positions, maxPositions)
	if _, ok := o.raw(key); ok {
		s.OriginalMaxPositionEmbeddings = o.size(key, 0, maxPositions)
	}
}

func (s *RopeScaling) readLlama3(r *jsonObject) {
	for key, dst := range map[string]*float64{"low_freq_factor": &s.LowFreqFactor, "high_freq_factor": &s.HighFreqFactor} {
		if _, ok := r.raw(key); !ok {
			r.failf(key, "missing for rope type %q", s.Type)
		}
		*dst = r.number(key, 0)
	}
	if !(s.LowFreqFactor > 0 && s.LowFreqFactor < s.HighFreqFactor && s.HighFreqFactor <= 1<<20) {
		r.failf("high_freq_factor", "want 0 < low_freq_factor < high_freq_factor, found %v and %v", s.LowFreqFactor, s.HighFreqFactor)
	}
}

func (s *RopeScaling) readYarn(r *jsonObject) {
	orDefault := func(key string, def float64) float64 {
		if v := r.number(key, def); v != 0 { // transformers takes 0 as absent
			return v
		}
		return def
	}
	s.BetaFast, s.BetaSlow = orDefault("beta_fast", 32), orDefault("beta_slow", 1)
	if !(s.BetaSlow > 0 && s.BetaSlow <= s.BetaFast && s.BetaFast <= 1<<20) {
		r.failf("beta_fast", "want 0 < beta_slow <= beta_fast, found beta_slow %v and beta_fast %v", s.BetaSlow, s.BetaFast)
	}
	s.NoTruncate = !r.boolean("truncate", true)

	mscale, all := r.number("mscale", 0), r.number("mscale_all_dim", 0)
	switch f := r.optionalNumber("attention_factor"); {
	case f != nil:
		s.AttentionFactor = *f
	case mscale != 0 && all != 0:
		s.AttentionFactor = yarnMscale(s.Factor, mscale) / yarnMscale(s.Factor, all)
	default:
		s.AttentionFactor = yarnMscale(s.Factor, 1)
	}
	if !(s.AttentionFactor > 0 && s.AttentionFactor <= 1<<20) {
		r.failf("attention_factor", "want a positive number, found %v", s.AttentionFactor)
	}
}

// yarnMscale is the temperature that YaRN recommends (section 3.4 of the paper:
// 0.1·ln(s)+1), weighted as in DeepSeek's checkpoints.
func yarnMscale(scale, weight float64) float64 {
	if scale <= 1 {
		return 1
	}
	return float64(0.1*weight*fmath.Log(scale)) + 1
}
