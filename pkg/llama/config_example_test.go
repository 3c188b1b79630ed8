package llama_test

import (
	"fmt"

	"github.com/leveret-os/leveret/pkg/llama"
)

func ExampleParseConfig() {
	c, err := llama.ParseConfig([]byte(`{"model_type":"qwen2","hidden_size":896,"intermediate_size":4864,"num_hidden_layers":24,
		"num_attention_heads":14,"num_key_value_heads":2,"vocab_size":151936,"eos_token_id":151645}`),
		[]byte(`{"eos_token_id":[151645,151643]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.HeadDim, c.AttentionBias, c.EOSTokenIDs, c.ContextLimit())

	_, err = llama.ParseConfig([]byte(`{"model_type":"gemma2"}`), nil)
	fmt.Println(err)
	// Output:
	// 64 true [151643 151645] 32768 positions, the model's max_position_embeddings
	// llama: configuration: config.json: model_type: "gemma2" is not supported; supported are llama, mistral, qwen2, qwen3
}

func ExampleConfig_Sampling() {
	c, err := llama.ParseConfig([]byte(`{"model_type":"llama","hidden_size":2048,"intermediate_size":8192,"num_hidden_layers":16,
		"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256}`),
		[]byte(`{"do_sample":true,"temperature":0.6,"top_p":0.9}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n", c.Sampling())
	// Output:
	// {Temperature:0.6 TopK:50 TopP:0.9 MinP:0 RepeatPenalty:0 RepeatLastN:0 Seed:0}
}
