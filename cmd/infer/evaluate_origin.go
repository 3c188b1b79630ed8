package main

import (
	"bytes"

	"github.com/leveret-os/leveret/pkg/checkpoint"
)

// fewValues reports whether the matrices of a checkpoint in floats have at most
// 16 different values in every 32 weights of a row, as weights have that were
// stored in 4 bits before. Real ones would have 32, but for chance.
func fewValues(path string) (bool, error) {
	c, err := checkpoint.Open(path, nil)
	if err != nil {
		return false, err
	}
	defer c.Close()
	found := false
	for _, name := range c.Names() {
		t, err := c.Stat(name)
		if err != nil {
			return false, err
		}
		if len(t.Shape) != 2 || t.Shape[1]%32 != 0 || t.Type.Blocks() || name == "model.embed_tokens.weight" || name == "lm_head.weight" {
			continue
		}
		if t, err = c.Tensor(name); err != nil {
			return false, err
		}
		if !fewInBlocks(t.Data, len(t.Data)/t.Elements()) {
			return false, nil
		}
		if found {
			return true, nil // two matrices are enough
		}
		found = true
	}
	return found, nil
}

// fewInBlocks looks at weights of some bytes each, 32 at a time.
func fewInBlocks(data []byte, width int) bool {
	var seen [16][]byte
	for ; len(data) >= 32*width; data = data[32*width:] {
		n := 0
	weights:
		for i := range 32 {
			w := data[i*width : (i+1)*width]
			for _, s := range seen[:n] {
				if bytes.Equal(s, w) {
					continue weights
				}
			}
			if n == len(seen) {
				return false
			}
			seen[n] = w
			n++
		}
	}
	return true
}
