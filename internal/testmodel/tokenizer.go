package testmodel

import (
	"fmt"
	"slices"
	"strings"
)

// The special tokens of a tiny model have its first ids.
const (
	idUnknown = iota
	idBOS
	idEOS
)

var specials = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

// merges are the tokenizer's merge rules, in order. Ġ is the space.
var merges = strings.Fields(`
Ġ+t h+e i+n r+e o+n Ġ+a Ġt+he e+r Ġ+s Ġ+w a+t e+n o+r n+d e+s Ġ+o Ġ+c i+t i+s
o+u Ġa+nd in+g e+d Ġ+b Ġ+f u+s s+er a+s Ġo+f l+l h+e+l`)

// rules returns the merge rules as pairs.
func rules() [][2]string {
	var list [][2]string
	for _, m := range merges {
		parts := strings.Split(m, "+")
		for i := 1; i < len(parts); i++ { // a+b+c is the rules a+b, ab+c
			list = append(list, [2]string{strings.Join(parts[:i], ""), parts[i]})
		}
	}
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(list, func(p [2]string) bool { dup := seen[p]; seen[p] = true; return dup })
}

// byteTokens returns the 256 bytes as the printable characters that byte-level
// BPE writes them as (Radford et al., 2019), in the order of GPT-2's ids.
func byteTokens() []string {
	var printable, rest []string
	for b := range 256 {
		switch {
		case b >= '!' && b <= '~', b >= 0xa1 && b <= 0xac, b >= 0xae:
			printable = append(printable, string(rune(b)))
		default:
			rest = append(rest, string(rune(256+len(rest))))
		}
	}
	return append(printable, rest...)
}

// tokens returns the vocabulary by id.
func tokens() []string {
	list := slices.Concat(specials, byteTokens())
	for _, r := range rules() {
		list = append(list, r[0]+r[1])
	}
	return list
}

// VocabSize returns the number of tokens of a tiny model's tokenizer.
func VocabSize() int { return len(tokens()) }

func vocabulary() map[string]int {
	ids := map[string]int{}
	for id, token := range tokens() {
		ids[token] = id
	}
	return ids
}

func mergesTXT() []byte {
	var b strings.Builder
	b.WriteString("#version: 0.2\n")
	for _, r := range rules() {
		fmt.Fprintf(&b, "%s %s\n", r[0], r[1])
	}
	return []byte(b.String())
}

func addedToken(id int) map[string]any {
	return map[string]any{
		"content": specials[id], "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true,
	}
}

func tokenizerJSON() map[string]any {
	var added []any
	for id := range specials {
		token := addedToken(id)
		token["id"] = id
		added = append(added, token)
	}
	pairs := []string{}
	for _, r := range rules() {
		pairs = append(pairs, r[0]+" "+r[1])
	}
	byteLevel := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	return map[string]any{
		"version":      "1.0",
		"truncation":   nil,
		"padding":      nil,
		"added_tokens": added,
		"normalizer":   nil,
		"pre_tokenizer": map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Digits", "individual_digits": true}, byteLevel,
		}},
		"post_processor": nil,
		"decoder":        byteLevel,
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": false, "vocab": vocabulary(), "merges": pairs,
		},
	}
}

// chatTemplate is ChatML.
const chatTemplate = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
	"{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

func tokenizerConfig(context int) map[string]any {
	decoder := map[string]any{}
	for id := range specials {
		decoder[fmt.Sprint(id)] = addedToken(id)
	}
	return map[string]any{
		"tokenizer_class":              "GPT2Tokenizer",
		"add_prefix_space":             false,
		"added_tokens_decoder":         decoder,
		"bos_token":                    specials[idBOS],
		"eos_token":                    specials[idEOS],
		"pad_token":                    specials[idEOS],
		"unk_token":                    specials[idUnknown],
		"chat_template":                chatTemplate,
		"clean_up_tokenization_spaces": false,
		"model_max_length":             context,
	}
}
