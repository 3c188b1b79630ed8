package bpe

import (
	"fmt"
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

// decodeChain is a decoder in the one order in which real ones come: changes of
// single tokens, byte fallback, more changes of single tokens, then what is done
// to the whole text. Each part may be absent.
type decodeChain struct {
	byteLevel bool // ByteLevel alone, which has a path of its own
	joined    bool // no decoder: tokens are joined by spaces
	before    []tokenChange
	growth    float64 // how much longer the changes can make a token
	fallback  bool
	after     []tokenChange
	fused     bool      // Fuse: strips come after it
	strip     stripEnds // what is done to the whole text
}

// tokenChange rewrites a token; first says that it is the first of the text.
type tokenChange func(token string, first bool) string

// stripEnds takes a character off the ends of a text.
type stripEnds struct {
	content     string
	start, stop int // at most so many
}

func (s stripEnds) apply(text string) string {
	for i := 0; i < s.start && strings.HasPrefix(text, s.content); i++ {
		text = text[len(s.content):]
	}
	for i := 0; i < s.stop && strings.HasSuffix(text, s.content); i++ {
		text = text[:len(text)-len(s.content)]
	}
	return text
}

func change(token string, first bool, changes []tokenChange) string {
	for _, f := range changes {
		token = f(token, first)
	}
	return token
}

// text decodes all tokens of a text.
func (c *decodeChain) text(tokens []string) string {
	if c.joined {
		return strings.Join(tokens, " ")
	}
	for i, t := range tokens {
		tokens[i] = change(t, i == 0, c.before)
	}
	if c.fallback {
		tokens = joinFallback(tokens)
	}
	for i, t := range tokens {
		tokens[i] = change(t, i == 0, c.after)
	}
	text := strings.Join(tokens, "")
	return c.strip.apply(text)
}

// bytes appends what one token within a text stands for.
func (c *decodeChain) bytes(dst []byte, token string) []byte {
	if c.byteLevel {
		return appendUnmapped(dst, []byte(token))
	}
	token = change(token, false, c.before)
	if b, ok := fallbackByte(token); ok && c.fallback {
		return append(dst, b)
	}
	return append(dst, change(token, false, c.after)...)
}

func compileDecoder(d DecoderConfig, place string) (decodeChain, error) {
	c := decodeChain{joined: d.Type == "", growth: 1}
	return c, c.add(d, place, 0)
}

// add puts d behind what is there.
func (c *decodeChain) add(d DecoderConfig, place string, depth int) error {
	if depth > maxDepth {
		return placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
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
	case "Fuse":
		c.fused = true
		return nil
	}
	if len(c.before)+len(c.after) >= maxStages {
		return placed(ErrUnsupported, place, "more than %d decoders", maxStages)
	}
	if c.byteLevel || c.fused && d.Type != "Strip" {
		return placed(ErrUnsupported, place, "the decoder %q behind one that joins the tokens", clip(d.Type))
	}
	one := func(f tokenChange) {
		if c.fallback {
			c.after = append(c.after, f)
		} else {
			c.before = append(c.before, f)
		}
	}
	switch d.Type {
	case "ByteLevel":
		if c.fallback || c.before != nil {
			return placed(ErrUnsupported, place, "the decoder ByteLevel behind others")
		}
		c.byteLevel = true
	case "ByteFallback":
		if c.fallback {
			return placed(ErrUnsupported, place, "the decoder ByteFallback twice")
		}
		c.fallback = true
	case "Replace":
		replace, err := compileNormalizer(NormalizerConfig{Type: "Replace", Pattern: d.Pattern, Content: d.Content}, place)
		if err != nil {
			return err
		}
		c.growth *= max(1, float64(len(d.Content))/float64(max(1, len(d.Pattern.String))))
		if c.growth > maxGrowth {
			return placed(ErrUnsupported, place, "text that grows by more than %d times", maxGrowth)
		}
		one(func(t string, _ bool) string { return replace(t) })
	case "Strip":
		if utf8.RuneCountInString(d.Content) != 1 || d.Start < 0 || d.Stop < 0 {
			return placed(ErrField, place, "Strip of %q, %d at the start and %d at the end", clip(d.Content), d.Start, d.Stop)
		}
		s := stripEnds{d.Content, d.Start, d.Stop}
		switch {
		case !c.fused:
			one(func(t string, _ bool) string { return s.apply(t) })
		case d.Stop > 0 || c.strip.start > 0:
			return placed(ErrUnsupported, place, "Strip at the end of the whole text, which a stream cannot know, or twice")
		default:
			c.strip = s
		}
	case "Metaspace":
		if utf8.RuneCountInString(d.Replacement) != 1 {
			return placed(ErrField, place+".replacement", "expected one character, found %q", clip(d.Replacement))
		}
		one(func(t string, first bool) string {
			if first && d.PrependScheme != "never" {
				return strings.ReplaceAll(t, d.Replacement, "")
			}
			return strings.ReplaceAll(t, d.Replacement, " ")
		})
	default:
		return placed(ErrUnsupported, place+".type", "the decoder %q", clip(d.Type))
	}
	return nil
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
