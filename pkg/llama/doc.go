// Package llama runs language models of the Llama architecture on the CPU:
// Llama 2 and 3, SmolLM2, Mistral, Qwen2, Qwen2.5 and Qwen3, from a folder as
// Hugging Face lays it out, or from a GGUF file.
//
// A Model is immutable and shared; a Session is one conversation with it: a KV
// cache and a position.
//
//	model, err := llama.Open("SmolLM2-135M-Instruct", nil)
//	…
//	session, err := model.NewSession(nil)
//	…
//	prompt := model.Tokenizer().Encode("The capital of France is", &bpe.EncodeOptions{AddSpecial: true})
//	for token, err := range session.Generate(ctx, prompt, &llama.GenerateOptions{MaxTokens: 32}) {
//		…
//		fmt.Print(token.Text)
//	}
//
// Weights stay where they are mapped and in the format that they are stored in
// (float32, float16, bfloat16 or the block formats of pkg/quant).
//
// # Conversations
//
// The model's chat template turns messages into a prompt. Rewind keeps what the
// session has of it already, so that a turn costs only what is new:
//
//	template, err := model.ChatTemplate()
//	…
//	ids, err := template.Encode(model.Tokenizer(), messages, &llama.ChatOptions{AddGenerationPrompt: true})
//	…
//	rest, err := session.Rewind(ids)
//	…
//	for token, err := range session.Generate(ctx, rest, nil) {
//		…
//	}
//
// # Constraints
//
// A Constraint decides which tokens may come next: text in a format, or one of
// several answers. It sees the tokens that are generated, not the prompt, and
// serves one generation. Before each choice it is asked what is forced and
// which tokens are legal; each token, forced or chosen, is then given to Accept,
// an end-of-sequence token too. Such a token ends the generation as it always
// does, so it is legal where the text may end; Done ends it without one.
// bpe.Tokenizer.TokenBytes tells what a token adds to the text.
//
// # Speculation
//
// Where a text repeats what stands in the prompt or in itself, a generation
// drafts what may follow and verifies it in one pass: several tokens for little
// more than the time of one, with the same bits. It spends no more on drafts
// than they have brought, and 1 % besides (GenerateOptions.DraftMax,
// Session.DraftStats).
//
// # One arithmetic
//
// Logits have the same bits on every instruction set (AVX-512, AVX2, portable
// Go on any architecture), for any number of threads, whether a token was
// computed alone or among others. docs/arithmetic.md specifies them.
package llama
