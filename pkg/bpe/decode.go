package bpe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// DecodeOptions changes how ids become text.
type DecodeOptions struct {
	// SkipSpecial leaves special tokens out.
	SkipSpecial bool
}

// Decode returns the text of ids. Ids without a token are left out, and bytes
// that are not UTF-8 become U+FFFD, both as in tokenizers.
func (t *Tokenizer) Decode(ids []int, opts *DecodeOptions) string {
	skip := opts != nil && opts.SkipSpecial
	if t.decode.byteLevel {
		buf := make([]byte, 0, 4*len(ids))
		for _, id := range ids {
			buf = t.appendTokenBytes(buf, id, skip)
		}
		return validUTF8(string(buf))
	}
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if token, ok := t.decodable(id, skip); ok {
			tokens = append(tokens, token)
		}
	}
	return t.decode.text(tokens)
}

// TokenBytes returns the bytes that a token stands for in decoded text: not
// always whole characters. It returns nil for an id without a token.
func (t *Tokenizer) TokenBytes(id int) []byte {
	token, ok := t.decodable(id, false)
	if !ok {
		return nil
	}
	return t.decode.bytes(make([]byte, 0, len(token)), token)
}

// appendTokenBytes is TokenBytes for the byte-level decoder.
func (t *Tokenizer) appendTokenBytes(dst []byte, id int, skip bool) []byte {
	if k, ok := t.added.byID[id]; ok {
		token := t.added.decoded[k]
		if skip && t.added.specials[token] {
			return dst
		}
		return appendUnmapped(dst, []byte(token))
	}
	content, _ := t.model.vocab.content(id)
	return appendUnmapped(dst, content)
}

// decodable returns what the decoder gets for an id: a normalised added token in
// its normalised form, so that the decoder can undo what a ByteLevel normaliser did.
func (t *Tokenizer) decodable(id int, skip bool) (string, bool) {
	if k, ok := t.added.byID[id]; ok {
		token := t.added.decoded[k]
		return token, !(skip && t.added.specials[token])
	}
	content, ok := t.model.vocab.content(id)
	return string(content), ok
}

// decodeChain is a decoder laid out in a row.
type decodeChain struct {
	byteLevel bool // nothing but ByteLevel, which has a path of its own
	joined    bool // no decoder: tokens are joined by spaces
	steps     []decodeStep
}

// decodeStep changes the list of tokens. The chain's text is the tokens joined.
type decodeStep struct {
	kind   string
	tokens func([]string) []string
	// bytes changes one token by itself, for TokenBytes; nil: leaves it.
	bytes func(dst []byte, token string) []byte
}

func (c *decodeChain) text(tokens []string) string {
	if c.joined {
		return strings.Join(tokens, " ")
	}
	for _, s := range c.steps {
		tokens = s.tokens(tokens)
	}
	return strings.Join(tokens, "")
}

func (c *decodeChain) bytes(dst []byte, token string) []byte {
	if c.byteLevel {
		return appendUnmapped(dst, []byte(token))
	}
	b := append(dst, token...)
	for _, s := range c.steps {
		if s.bytes != nil {
			b = s.bytes(nil, string(b))
		}
	}
	return b
}

func compileDecoder(d DecoderConfig, place string, depth int) (decodeChain, error) {
	c := decodeChain{joined: d.Type == ""}
	if err := c.add(d, place, depth); err != nil {
		return c, err
	}
	for i, s := range c.steps {
		c.byteLevel = s.kind == "ByteLevel" && i == 0 || s.kind == "Fuse" && c.byteLevel
		if !c.byteLevel {
			break
		}
	}
	return c, nil
}

// add appends the steps of d.
func (c *decodeChain) add(d DecoderConfig, place string, depth int) error {
	if depth > maxDepth {
		return placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
	step := decodeStep{kind: d.Type}
	switch d.Type {
	case "":
		return nil
	case "Sequence":
		for i, e := range d.Decoders {
			if err := c.add(e, fmt.Sprintf("%s.decoders[%d]", place, i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case "ByteLevel":
		step.tokens = func(tokens []string) []string {
			var buf []byte
			for _, t := range tokens {
				buf = appendUnmapped(buf, []byte(t))
			}
			return []string{validUTF8(string(buf))}
		}
		step.bytes = func(dst []byte, token string) []byte { return appendUnmapped(dst, []byte(token)) }
	case "Fuse":
		step.tokens = func(tokens []string) []string { return []string{strings.Join(tokens, "")} }
	case "ByteFallback":
		step.tokens = joinFallback
		step.bytes = func(dst []byte, token string) []byte {
			if b, ok := fallbackByte(token); ok {
				return append(dst, b)
			}
			return append(dst, token...)
		}
	case "Replace":
		replace, err := compileNormalizer(NormalizerConfig{Type: "Replace", Pattern: d.Pattern, Content: d.Content}, place, depth)
		if err != nil {
			return err
		}
		step.tokens = func(tokens []string) []string {
			return each(tokens, func(_ int, t string) string { return replace(t) })
		}
		step.bytes = func(dst []byte, token string) []byte { return append(dst, replace(token)...) }
	case "Strip":
		if utf8.RuneCountInString(d.Content) != 1 || d.Start < 0 || d.Stop < 0 {
			return placed(ErrField, place, "Strip of %q, %d at the start and %d at the end", d.Content, d.Start, d.Stop)
		}
		step.tokens = func(tokens []string) []string {
			return each(tokens, func(_ int, t string) string {
				for i := 0; i < d.Start && strings.HasPrefix(t, d.Content); i++ {
					t = t[len(d.Content):]
				}
				for i := 0; i < d.Stop && strings.HasSuffix(t, d.Content); i++ {
					t = t[:len(t)-len(d.Content)]
				}
				return t
			})
		}
	case "Metaspace":
		if utf8.RuneCountInString(d.Replacement) != 1 {
			return placed(ErrField, place+".replacement", "expected one character, found %q", d.Replacement)
		}
		step.tokens = func(tokens []string) []string {
			return each(tokens, func(i int, t string) string {
				if i == 0 && d.PrependScheme != "never" {
					return strings.ReplaceAll(t, d.Replacement, "")
				}
				return strings.ReplaceAll(t, d.Replacement, " ")
			})
		}
		step.bytes = func(dst []byte, token string) []byte {
			return append(dst, strings.ReplaceAll(token, d.Replacement, " ")...)
		}
	default:
		return placed(ErrUnsupported, place+".type", "the decoder %q", d.Type)
	}
	c.steps = append(c.steps, step)
	return nil
}

func each(tokens []string, f func(int, string) string) []string {
	out := slices.Clone(tokens)
	for i, t := range out {
		out[i] = f(i, t)
	}
	return out
}

// joinFallback turns runs of tokens like "<0xE4>" into the text of their bytes, or
// into one U+FFFD a byte when the run is not UTF-8.
func joinFallback(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		switch {
		case len(run) == 0:
		case utf8.Valid(run):
			out = append(out, string(run))
		default:
			out = append(out, strings.Repeat(replacement, len(run)))
		}
		run = run[:0]
	}
	for _, t := range tokens {
		if b, ok := fallbackByte(t); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}

// fallbackByte reads a token of the form <0xHH>.
func fallbackByte(token string) (byte, bool) {
	if len(token) != 6 || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	var v byte
	for _, c := range []byte(token[3:5]) {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | (c - '0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | (c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			v = v<<4 | (c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return v, true
}
