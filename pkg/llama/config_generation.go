package llama

import "math"

// GenerationConfig holds the recommendations of generation_config.json; nil
// means that the file does not say.
type GenerationConfig struct {
	DoSample          bool
	Temperature       *float32
	TopK              *int
	TopP, MinP        *float32
	RepetitionPenalty *float32
	MaxNewTokens      *int
}

func (c *Config) readGeneration(g *jsonObject) {
	number := func(key string, least, most float64) *float32 {
		f := g.optionalNumber(key)
		if f == nil {
			return nil
		}
		if !(*f >= least && *f <= most) {
			g.failf(key, "want %v to %v, found %v", least, most, *f)
		}
		v := float32(*f)
		return &v
	}
	count := func(key string) *int {
		if _, ok := g.raw(key); !ok {
			return nil
		}
		n := g.integer(key, 0)
		if n < 0 || n > math.MaxInt32 {
			g.failf(key, "want 0 to %d, found %d", math.MaxInt32, n)
		}
		return &n
	}
	c.Generation = GenerationConfig{
		DoSample:          g.boolean("do_sample", false),
		Temperature:       number("temperature", 0, 1e6),
		TopK:              count("top_k"),
		TopP:              number("top_p", 0, 1),
		MinP:              number("min_p", 0, 1),
		RepetitionPenalty: number("repetition_penalty", 1e-6, 1e6),
		MaxNewTokens:      count("max_new_tokens"),
	}
}
