package checkpoint

import (
	"fmt"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// preTokenizer is what a GGUF file says by one name, tokenizer.ggml.pre: how a
// byte-level tokenizer cuts text into pieces, and what goes with it.
type preTokenizer struct {
	stages       []bpe.PreTokenizerConfig
	nfc          bool // the text is normalised to NFC
	ignoreMerges bool
	addBOS       bool // unless the file says otherwise
}

// The names and their meaning are those of llama-vocab.cpp in
// github.com/ggml-org/llama.cpp; the stages are those of the tokenizer.json
// files which the names stand for. NFC, which llama.cpp leaves out, is theirs
// too (Qwen2Converter in convert_slow_tokenizer.py of transformers; MPT's
// tokenizer.json). A file without a name, or with "default", gets GPT-2's
// stages, where llama.cpp has expressions of its own and warns.
func preTokenizerOf(name string) (preTokenizer, error) {
	gpt2 := bpe.PreTokenizerConfig{Type: "ByteLevel", UseRegex: true}
	bytes := bpe.PreTokenizerConfig{Type: "ByteLevel"}
	digits := bpe.PreTokenizerConfig{Type: "Digits", IndividualDigits: true}
	split := func(regex string) bpe.PreTokenizerConfig {
		return bpe.PreTokenizerConfig{Type: "Split", Pattern: bpe.Pattern{Regex: regex}, Behavior: bpe.Isolated}
	}
	var p preTokenizer
	switch name {
	case "", "default", "gpt-2", "phi-2", "jais", "exaone4", "trillion":
		p.stages = []bpe.PreTokenizerConfig{gpt2}
	case "mpt", "olmo":
		p.stages, p.nfc = []bpe.PreTokenizerConfig{gpt2}, true
	case "smollm", "starcoder", "refact", "codeshell", "minerva-7b":
		p.stages = []bpe.PreTokenizerConfig{digits, gpt2}
	case "llama-bpe", "llama3", "llama-v3":
		p.stages = []bpe.PreTokenizerConfig{split(bpe.RegexLlama3), bytes}
		p.ignoreMerges, p.addBOS = true, true
	case "dbrx", "smaug-bpe":
		p.stages = []bpe.PreTokenizerConfig{split(bpe.RegexLlama3), bytes}
	case "qwen2", "deepseek-r1-qwen":
		p.stages, p.nfc = []bpe.PreTokenizerConfig{split(bpe.RegexQwen2), bytes}, true
	case "tekken":
		p.stages = []bpe.PreTokenizerConfig{split(bpe.RegexTekken), bytes}
		p.ignoreMerges, p.addBOS = true, true
	case "gpt-4o", "llama4":
		p.stages = []bpe.PreTokenizerConfig{split(bpe.RegexO200k), bytes}
	case "deepseek-v3":
		p.stages = []bpe.PreTokenizerConfig{split(`\p{N}{1,3}`), split("[一-龥぀-ゟ゠-ヿ]+"), split(bpe.RegexDeepSeek3), bytes}
	case "deepseek-llm":
		p.stages = []bpe.PreTokenizerConfig{
			split("[\r\n]"), split(deepSeekWords), split(`\s?[!-/:-~！-／：-～‘-‟　-。]+`), split(`\s+$`), split(deepSeekCJK), digits, bytes,
		}
	case "deepseek-coder":
		p.stages = []bpe.PreTokenizerConfig{split("[\r\n]"), split(`\s?\p{L}+`), split(`\s?\p{P}+`), split(deepSeekCJK), digits, bytes}
	default:
		return p, fmt.Errorf("checkpoint: GGUF key %q: %w: pre-tokenizer %q", "tokenizer.ggml.pre", ErrUnsupported, name)
	}
	return p, nil
}

// Expressions of DeepSeek LLM's tokenizer.json: the letters of the cased
// alphabets, and the CJK characters. Six of the letters are escaped, since
// programs that normalise text would put others in their place.
const (
	deepSeekWords = `\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-` + "\u1f7d" + `ᾀ-ᾴᾶ-ᾼ` + "\u1fbe" + `ῂ-ῄῆ-ῌῐ-` + "\u1fd3" + `ῖ-` + "\u1fdb" + `ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ` + "\u2126" + `ℨ` + "\u212a" + `-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+`
	deepSeekCJK   = "[一-龥ࠀ-一가-퟿]+"
)
