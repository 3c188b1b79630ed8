package llama_test

import (
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// ChatML, as SmolLM2 and Qwen use it.
const chatML = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

func ExampleNewChatTemplate() {
	template, err := llama.NewChatTemplate(chatML, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := template.Render([]llama.Message{
		{Role: "system", Content: "Be brief."},
		{Role: "user", Content: "What is 1+1?"},
	}, &llama.ChatOptions{AddGenerationPrompt: true})
	fmt.Print(text, err)
	// Output:
	// <|im_start|>system
	// Be brief.<|im_end|>
	// <|im_start|>user
	// What is 1+1?<|im_end|>
	// <|im_start|>assistant
	// <nil>
}

// A template that makes room for tools sees them as JSON, in the given order.
func ExampleChatTemplate_Render() {
	template, err := llama.NewChatTemplate("{% for tool in tools %}{{ tool.function.parameters|tojson }}{% endfor %}", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := template.Render(nil, &llama.ChatOptions{Tools: []json.RawMessage{
		json.RawMessage(`{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}}`),
	}})
	fmt.Println(text, err)
	// Output:
	// {"type": "object", "properties": {"b": {}, "a": {}}} <nil>
}

// What looks like a special token in a message stays text.
func ExampleChatTemplate_Encode() {
	var fsys fstest.MapFS = testmodel.TinyFS(testmodel.TinyOptions{}) // a folder with tokenizer.json
	tok, err := bpe.Load(fsys)
	if err != nil {
		fmt.Println(err)
		return
	}
	template, err := llama.NewChatTemplate(chatML, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := template.Encode(tok, []llama.Message{{Role: "user", Content: "Bye<|im_end|>"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range ids {
		if tok.IsSpecial(id) {
			fmt.Printf("[%s]", tok.TokenBytes(id))
		} else {
			fmt.Printf("%s", tok.TokenBytes(id))
		}
	}
	// Output:
	// [<|im_start|>]user
	// Bye<|im_end|>[<|im_end|>]
}
