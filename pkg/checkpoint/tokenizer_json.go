package checkpoint

import (
	"bytes"
	"fmt"

	"github.com/leveret-os/leveret/pkg/bpe"
)

// tokenizerJSON writes a tokenizer in the form of Hugging Face's tokenizer.json
// (version 1.0). It knows the stages that GGUF files ask for.
func tokenizerJSON(d *bpe.Definition) ([]byte, error) {
	pre, err := preTokenizerJSON(d.PreTokenizer)
	if err != nil {
		return nil, err
	}
	normalizer, err := plainStage(d.Normalizer.Type, "NFC", "NFD", "NFKC", "NFKD", "Lowercase")
	if err != nil {
		return nil, err
	}
	post, err := postProcessorJSON(d.PostProcessor)
	if err != nil {
		return nil, err
	}
	if d.Decoder.Type != "ByteLevel" {
		return nil, fmt.Errorf("checkpoint: tokenizer.json: %w: decoder %q", ErrUnsupported, d.Decoder.Type)
	}
	added := make([]object, len(d.AddedTokens))
	for i, a := range d.AddedTokens {
		added[i] = addedTokenJSON(a, true)
	}
	vocab, err := vocabularyJSON(d.Vocab)
	if err != nil {
		return nil, err
	}
	merges := make([]string, len(d.Merges))
	for i, m := range d.Merges {
		merges[i] = m[0] + " " + m[1]
	}
	var unknown any
	if d.UnknownToken != "" {
		unknown = d.UnknownToken
	}
	return indentedJSON(object{
		{"version", "1.0"},
		{"truncation", nil},
		{"padding", nil},
		{"added_tokens", added},
		{"normalizer", normalizer},
		{"pre_tokenizer", pre},
		{"post_processor", post},
		{"decoder", byteLevelJSON(true, true)},
		{"model", object{
			{"type", "BPE"},
			{"dropout", nil},
			{"unk_token", unknown},
			{"continuing_subword_prefix", nil},
			{"end_of_word_suffix", nil},
			{"fuse_unk", d.FuseUnknown},
			{"byte_fallback", d.ByteFallback},
			{"ignore_merges", d.IgnoreMerges},
			{"vocab", vocab},
			{"merges", merges},
		}},
	})
}

// vocabularyJSON returns the tokens with their ids, in the order of ids.
func vocabularyJSON(vocab []string) (object, error) {
	o := make(object, 0, len(vocab))
	for id, token := range vocab {
		if token != "" {
			o = append(o, member{token, id})
		}
	}
	return o, nil
}

// mergesTXT returns the merges as a merges.txt.
func mergesTXT(d *bpe.Definition) []byte {
	var b bytes.Buffer
	b.WriteString("#version: 0.2\n")
	for _, m := range d.Merges {
		b.WriteString(m[0] + " " + m[1] + "\n")
	}
	return b.Bytes()
}

func addedTokenJSON(a bpe.AddedToken, withID bool) object {
	var o object
	if withID {
		o.set("id", a.ID)
	}
	return append(o, object{
		{"content", a.Content},
		{"single_word", a.SingleWord},
		{"lstrip", a.LStrip},
		{"rstrip", a.RStrip},
		{"normalized", a.Normalized},
		{"special", a.Special},
	}...)
}

func byteLevelJSON(prefixSpace, regex bool) object {
	return object{{"type", "ByteLevel"}, {"add_prefix_space", prefixSpace}, {"trim_offsets", true}, {"use_regex", regex}}
}

// plainStage is a stage without parameters, nil where there is none.
func plainStage(kind string, known ...string) (any, error) {
	if kind == "" {
		return nil, nil
	}
	for _, k := range known {
		if k == kind {
			return object{{"type", kind}}, nil
		}
	}
	return nil, fmt.Errorf("checkpoint: tokenizer.json: %w: stage %q", ErrUnsupported, kind)
}

func preTokenizerJSON(p bpe.PreTokenizerConfig) (any, error) {
	switch p.Type {
	case "":
		return nil, nil
	case "ByteLevel":
		return byteLevelJSON(p.AddPrefixSpace, p.UseRegex), nil
	case "Digits":
		return object{{"type", "Digits"}, {"individual_digits", p.IndividualDigits}}, nil
	case "Split":
		pattern := object{{"Regex", p.Pattern.Regex}}
		if p.Pattern.Regex == "" {
			pattern = object{{"String", p.Pattern.String}}
		}
		return object{{"type", "Split"}, {"pattern", pattern}, {"behavior", string(p.Behavior)}, {"invert", p.Invert}}, nil
	case "Sequence":
		list := make([]any, len(p.PreTokenizers))
		for i, e := range p.PreTokenizers {
			var err error
			if list[i], err = preTokenizerJSON(e); err != nil {
				return nil, err
			}
		}
		return object{{"type", "Sequence"}, {"pretokenizers", list}}, nil
	}
	return nil, fmt.Errorf("checkpoint: tokenizer.json: %w: pre-tokenizer %q", ErrUnsupported, p.Type)
}

// postProcessorJSON writes a template; its form for two texts, which nothing
// here uses, is the form for one with the second text behind the first.
func postProcessorJSON(p bpe.PostProcessorConfig) (any, error) {
	switch p.Type {
	case "":
		return nil, nil
	case "TemplateProcessing":
	default:
		return nil, fmt.Errorf("checkpoint: tokenizer.json: %w: post-processor %q", ErrUnsupported, p.Type)
	}
	var single, pair []object
	specials := object{}
	sequence := func(id string, typeID int) object {
		return object{{"Sequence", object{{"id", id}, {"type_id", typeID}}}}
	}
	for _, s := range p.Single {
		if s.Special == "" {
			single = append(single, sequence("A", 0))
			pair = append(pair, sequence("A", 0), sequence("B", 1))
			continue
		}
		e := object{{"SpecialToken", object{{"id", s.Special}, {"type_id", 0}}}}
		single, pair = append(single, e), append(pair, e)
		specials.set(s.Special, object{{"id", s.Special}, {"ids", s.IDs}, {"tokens", []string{s.Special}}})
	}
	return object{{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}}, nil
}
