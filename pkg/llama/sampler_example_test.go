package llama_test

import (
	"fmt"

	"github.com/leveret-os/leveret/pkg/llama"
)

func ExampleNewSampler() {
	sampler, err := llama.NewSampler(llama.Sampling{Temperature: 0.7, TopK: 2, Seed: 42})
	if err != nil {
		fmt.Println(err)
		return
	}
	logits := []float32{0.5, 2, -1, 1.5} // one per token id
	var ids []int
	for range 8 {
		id, err := sampler.Sample(logits, nil, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		ids = append(ids, id)
	}
	fmt.Println(ids)

	_, err = llama.NewSampler(llama.Sampling{TopP: 1.5})
	fmt.Println(err)
	// Output:
	// [1 3 1 1 3 3 1 3]
	// llama: sampling: TopP: want 0 to 1, found 1.5
}
