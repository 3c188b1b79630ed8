package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leveret-os/leveret/internal/gguf"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// The types of tokens in tokenizer.ggml.token_type (llama.h of
// github.com/ggml-org/llama.cpp).
const (
	tokenNormal = iota + 1
	tokenUnknown
	tokenControl
	tokenUserDefined
	tokenUnused
	tokenByte
)

// ggufTokens are the special tokens that a GGUF file names: ids, or −1.
type ggufTokens struct {
	file *gguf.File
	// count is the number of tokens of the vocabulary.
	count uint64

	bos, eos, eot, eom, unknown, pad int
}

// readTokens reads the special tokens. The vocabulary itself is left alone:
// it is large, and only the tokenizer needs it.
func readTokens(f *gguf.File) (*ggufTokens, error) {
	t := &ggufTokens{file: f}
	if v, ok := f.Value("tokenizer.ggml.tokens"); ok {
		_, t.count = v.Element()
	}
	for _, s := range []struct {
		name string
		id   *int
		lax  bool // an id that is out of range is none, as llama.cpp has it
	}{
		{"bos", &t.bos, false}, {"eos", &t.eos, false}, {"eot", &t.eot, false}, {"eom", &t.eom, false},
		{"unknown", &t.unknown, true}, {"padding", &t.pad, true},
	} {
		*s.id = -1
		key := "tokenizer.ggml." + s.name + "_token_id"
		n, err := f.Uint(key)
		switch {
		case errors.Is(err, gguf.ErrNotFound):
		case err == nil && n < t.count:
			*s.id = int(n)
		case s.lax:
		case err != nil:
			return nil, fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
		default:
			return nil, fmt.Errorf("checkpoint: GGUF key %q: %w: token %d of %d", key, ErrMetadata, n, t.count)
		}
	}
	return t, nil
}

// turnEnds are the names of tokens that end a turn or a text. Where a file
// says eot_token_id the others are not looked for. Converters of 2024 wrote
// only one id though generation_config.json had several.
var turnEnds = []string{"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|im_end|>", "<|end|>", "<end_of_turn>"}

// endIDs returns every token that ends a generation, in ascending order.
func (t *ggufTokens) endIDs() []int {
	var ids []int
	for _, id := range []int{t.eos, t.eot, t.eom} {
		if id >= 0 {
			ids = append(ids, id)
		}
	}
	if t.eot < 0 {
		ends := turnEnds
		if a, err := t.file.Text("general.architecture"); err == nil && strings.HasPrefix(a, "qwen") {
			ends = append(slices.Clip(ends), "<|endoftext|>")
		}
		ids = append(ids, t.controls(ends)...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// controls returns the ids of the control tokens of these names.
func (t *ggufTokens) controls(names []string) []int {
	tokens, err := t.file.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return nil
	}
	types, err := t.file.Ints("tokenizer.ggml.token_type")
	if err != nil {
		return nil
	}
	var ids []int
	for i := range min(len(tokens), len(types)) {
		if types[i] == tokenControl && slices.Contains(names, tokens[i]) {
			ids = append(ids, i)
		}
	}
	return ids
}

// definition returns the tokenizer.
func (t *ggufTokens) definition() (*bpe.Definition, error) {
	f := t.file
	model, err := f.Text("tokenizer.ggml.model")
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	switch model {
	case "gpt2":
	case "llama":
		return nil, fmt.Errorf("checkpoint: GGUF key %q: %w: %q is a SentencePiece tokenizer, want gpt2, a byte-level BPE", "tokenizer.ggml.model", ErrUnsupported, model)
	default:
		return nil, fmt.Errorf("checkpoint: GGUF key %q: %w: %q, want gpt2, a byte-level BPE", "tokenizer.ggml.model", ErrUnsupported, model)
	}
	pre, err := f.Text("tokenizer.ggml.pre")
	if err != nil && !errors.Is(err, gguf.ErrNotFound) {
		return nil, fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	p, err := preTokenizerOf(pre)
	if err != nil {
		return nil, err
	}
	d := &bpe.Definition{
		PreTokenizer: p.stages[0],
		Decoder:      bpe.DecoderConfig{Type: "ByteLevel"},
		IgnoreMerges: p.ignoreMerges,
	}
	if len(p.stages) > 1 {
		d.PreTokenizer = bpe.PreTokenizerConfig{Type: "Sequence", PreTokenizers: p.stages}
	}
	if p.nfc {
		d.Normalizer.Type = "NFC"
	}
	if err := t.vocabulary(d); err != nil {
		return nil, err
	}
	if err := t.merges(d); err != nil {
		return nil, err
	}
	return d, t.template(d, p.addBOS)
}

// vocabulary sets the tokens and the added tokens.
func (t *ggufTokens) vocabulary(d *bpe.Definition) error {
	tokens, err := t.file.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	types, err := t.file.Ints("tokenizer.ggml.token_type")
	if errors.Is(err, gguf.ErrNotFound) {
		types, err = make([]int64, len(tokens)), nil
	}
	if err != nil {
		return fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	if len(types) != len(tokens) {
		return fmt.Errorf("checkpoint: GGUF key %q: %w: %d types for the %d tokens of %q", "tokenizer.ggml.token_type", ErrMetadata, len(types), len(tokens), "tokenizer.ggml.tokens")
	}
	for id, token := range tokens {
		if !utf8.ValidString(token) {
			return fmt.Errorf("checkpoint: GGUF key %q: %w: token %d, %q, is not UTF-8", "tokenizer.ggml.tokens", ErrMetadata, id, token)
		}
		switch types[id] {
		case tokenControl, tokenUnknown:
			d.AddedTokens = append(d.AddedTokens, bpe.AddedToken{ID: id, Content: token, Special: true})
		case tokenUserDefined:
			d.AddedTokens = append(d.AddedTokens, bpe.AddedToken{ID: id, Content: token})
		case tokenUnused:
			// What the converter puts where there is no token.
			if token == fmt.Sprintf("[PAD%d]", id) {
				tokens[id] = ""
			}
		}
	}
	d.Vocab = tokens
	return nil
}

func (t *ggufTokens) merges(d *bpe.Definition) error {
	const key = "tokenizer.ggml.merges"
	merges, err := t.file.Strings(key)
	if err != nil {
		return fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
	}
	d.Merges = make([][2]string, len(merges))
	for i, m := range merges {
		// The space is the border, unless it is the first character.
		n := -1
		if len(m) > 1 {
			n = strings.IndexByte(m[1:], ' ')
		}
		if n < 0 || n+2 == len(m) || !utf8.ValidString(m) {
			return fmt.Errorf("checkpoint: GGUF key %q: %w: merge %d, %q, is not two tokens with a space between", key, ErrMetadata, i, m)
		}
		d.Merges[i] = [2]string{m[:n+1], m[n+2:]}
	}
	return nil
}

// template sets the tokens that are put around a text.
func (t *ggufTokens) template(d *bpe.Definition, addBOS bool) error {
	flag := func(key string, missing bool) (bool, error) {
		b, err := t.file.Bool(key)
		if errors.Is(err, gguf.ErrNotFound) {
			return missing, nil
		}
		if err != nil {
			return false, fmt.Errorf("checkpoint: %w: %w", ErrMetadata, err)
		}
		return b, nil
	}
	addBOS, err := flag("tokenizer.ggml.add_bos_token", addBOS)
	if err != nil {
		return err
	}
	addEOS, err := flag("tokenizer.ggml.add_eos_token", false)
	if err != nil {
		return err
	}
	special := func(id int) bpe.TemplatePiece { return bpe.TemplatePiece{Special: d.Vocab[id], IDs: []int{id}} }
	var single []bpe.TemplatePiece
	if addBOS && t.bos >= 0 {
		single = append(single, special(t.bos))
	}
	single = append(single, bpe.TemplatePiece{})
	if addEOS && t.eos >= 0 {
		single = append(single, special(t.eos))
	}
	if len(single) > 1 {
		d.PostProcessor = bpe.PostProcessorConfig{Type: "TemplateProcessing", Single: single}
	}
	return nil
}

// tokenizerConfig returns Hugging Face's tokenizer_config.json. Its class is
// the one that takes tokenizer.json as it is: others rebuild the tokenizer
// from its vocabulary and drop stages of it.
func (t *ggufTokens) tokenizerConfig(context int) (object, error) {
	d, err := t.definition()
	if err != nil {
		return nil, err
	}
	decoder := object{}
	for _, a := range d.AddedTokens {
		decoder = append(decoder, member{fmt.Sprint(a.ID), addedTokenJSON(a, false)})
	}
	begins, ends := false, false
	if s := d.PostProcessor.Single; len(s) > 0 {
		begins, ends = s[0].Special != "", s[len(s)-1].Special != ""
	}
	c := object{
		{"add_bos_token", begins},
		{"add_eos_token", ends},
		{"add_prefix_space", false},
		{"added_tokens_decoder", decoder},
	}
	c = append(c, t.specialTokens(d)...)
	if template, err := t.file.Text("tokenizer.chat_template"); err == nil {
		c.set("chat_template", template)
	}
	return append(c, object{
		{"clean_up_tokenization_spaces", false},
		{"model_max_length", context},
		{"tokenizer_class", "PreTrainedTokenizerFast"},
	}...), nil
}

// specialTokens returns Hugging Face's special_tokens_map.json.
func (t *ggufTokens) specialTokens(d *bpe.Definition) object {
	var c object
	for _, s := range []struct {
		key string
		id  int
	}{{"bos_token", t.bos}, {"eos_token", t.eos}, {"pad_token", t.pad}, {"unk_token", t.unknown}} {
		if s.id >= 0 {
			c.set(s.key, d.Vocab[s.id])
		}
	}
	return c
}
