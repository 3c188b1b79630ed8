package native

import "github.com/leveret-os/leveret/pkg/llama"

// prefillFlops returns the floating-point operations of a prompt of n tokens,
// by token: the matrices of all layers, causal attention, and the head for the
// last token alone. A multiply-add is two.
func prefillFlops(c *llama.Config, n int) float64 {
	h, q, kv := float64(c.HiddenSize), float64(c.NumAttentionHeads*c.HeadDim), float64(c.NumKeyValueHeads*c.HeadDim)
	matrices := h*q + 2*h*kv + q*h + 3*h*float64(c.IntermediateSize)
	// Token i sees i+1 positions, (n+1)/2 on average, in two products.
	attention := 2 * q * float64(n+1) / 2
	layers := float64(c.NumHiddenLayers) * (matrices + attention)
	head := h * float64(c.VocabSize) / float64(n)
	return 2 * (layers + head)
}

// weights returns how many weights a token is multiplied by: those of the
// matrices of all layers and of the head.
func weights(c *llama.Config) float64 {
	h, q, kv := float64(c.HiddenSize), float64(c.NumAttentionHeads*c.HeadDim), float64(c.NumKeyValueHeads*c.HeadDim)
	return float64(c.NumHiddenLayers)*(2*h*q+2*h*kv+3*h*float64(c.IntermediateSize)) + h*float64(c.VocabSize)
}
