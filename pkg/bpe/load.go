package bpe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFile bounds the size of a tokenizer file. The largest known is 35 MB.
const maxFile = 512 << 20

// Load reads the tokenizer of a model folder: tokenizer.json, or else vocab.json
// with merges.txt. For the latter pair tokenizer_config.json says which
// pre-tokeniser goes with it (by tokenizer_class; GPT-2's where it says nothing),
// and added_tokens.json, special_tokens_map.json and tokenizer_config.json which
// tokens are added and special; all three may be absent.
//
// vocab.json and merges.txt do not say everything: a model whose tokenizer.json
// differs from its class's usual stages needs that file.
func Load(fsys fs.FS) (*Tokenizer, error) {
	data, err := readFile(fsys, "tokenizer.json")
	if err == nil {
		return Parse(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	vocabulary, err := readFile(fsys, "vocab.json")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("bpe: %w: neither tokenizer.json nor vocab.json is there: %w", ErrNotFound, fs.ErrNotExist)
		}
		return nil, err
	}
	merges, err := readFile(fsys, "merges.txt")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("bpe: %w: vocab.json is there, merges.txt is not: %w", ErrNotFound, fs.ErrNotExist)
		}
		return nil, err
	}
	return loadPair(fsys, vocabulary, merges)
}

func readFile(fsys fs.FS, name string) ([]byte, error) {
	// Opening a pipe would wait for a writer.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("bpe: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("bpe: %s is not a regular file: %w", name, fs.ErrInvalid)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("bpe: %w", err)
	}
	defer f.Close()
	size := min(max(info.Size(), 0), maxFile)
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, fmt.Errorf("bpe: %s: %w", name, err)
	}
	if buf.Len() > maxFile {
		return nil, placed(ErrField, name, "the file has more than %d bytes", maxFile)
	}
	return buf.Bytes(), nil
}

// loadPair builds a tokenizer from the older pair of files.
func loadPair(fsys fs.FS, vocabulary, merges []byte) (*Tokenizer, error) {
	r, err := newJSONReader(vocabulary, "vocab.json")
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	p := parser{jsonReader: r, t: t}
	if err := p.vocab(); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if err := t.mergesFile(merges); err != nil {
		return nil, err
	}
	var c folderConfig
	if err := c.read(fsys, &t.model.vocab); err != nil {
		return nil, err
	}
	if err := c.stages(&t.def); err != nil {
		return nil, err
	}
	t.def.AddedTokens = c.tokens
	return t.finish("added tokens", "tokenizer_config.json")
}

// mergesFile reads merges.txt: a rule a line, "a b", the strongest first.
func (t *Tokenizer) mergesFile(data []byte) error {
	if !utf8.Valid(data) {
		return placed(ErrSyntax, "merges.txt", "not UTF-8")
	}
	t.rules = make([]rule, 0, len(t.model.vocab.ids))
	var scratch []byte
	number := 0
	for line := range bytes.Lines(data) {
		number++
		where := func() string { return fmt.Sprintf("merges.txt:%d", number) }
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 || bytes.HasPrefix(line, []byte("#version")) {
			continue
		}
		a, b, ok := cutMerge(line)
		if !ok {
			return placed(ErrSyntax, where(), "%q is not two tokens with a space between", clip(line))
		}
		var err error
		if scratch, err = t.addMerge(a, b, scratch); err != nil {
			return placed(ErrMerge, where(), "%v", err)
		}
	}
	return nil
}

// folderConfig is what the files beside vocab.json say.
type folderConfig struct {
	class          string
	addPrefixSpace bool
	tokens         []AddedToken
	byContent      map[string]int // content → index in tokens
}

func (c *folderConfig) read(fsys fs.FS, v *vocab) error {
	c.byContent = map[string]int{}
	specials := map[string]bool{}
	for _, file := range []struct {
		name string
		read func(*parser) error
	}{
		{"added_tokens.json", c.addedTokens},
		{"tokenizer_config.json", func(p *parser) error { return c.tokenizerConfig(p, specials) }},
		{"special_tokens_map.json", func(p *parser) error { return c.specialTokens(p, specials) }},
	} {
		data, err := readFile(fsys, file.name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		r, err := newJSONReader(data, file.name)
		if err != nil {
			return err
		}
		p := &parser{jsonReader: r}
		if err := file.read(p); err != nil {
			return err
		}
		if err := p.end(); err != nil {
			return err
		}
	}
	for i, tok := range c.tokens {
		if specials[tok.Content] {
			c.tokens[i].Special, c.tokens[i].Normalized = true, false
			delete(specials, tok.Content)
		}
	}
	// A special token that no list gives an id is one of the vocabulary, or else of
	// no use to a model.
	for _, content := range slices.Sorted(maps.Keys(specials)) {
		if id := v.id([]byte(content)); id >= 0 {
			c.add(AddedToken{ID: int(id), Content: content, Special: true})
		}
	}
	return nil
}

func (c *folderConfig) add(tok AddedToken) {
	if k, ok := c.byContent[tok.Content]; ok {
		c.tokens[k] = tok
		return
	}
	c.byContent[tok.Content] = len(c.tokens)
	c.tokens = append(c.tokens, tok)
}

// addedTokens reads added_tokens.json: an object of content to id.
func (c *folderConfig) addedTokens(p *parser) error {
	return p.object(func(content string) error {
		id, err := p.id()
		c.add(AddedToken{ID: id, Content: content, Normalized: true})
		return err
	})
}

func (c *folderConfig) tokenizerConfig(p *parser, specials map[string]bool) error {
	return p.object(func(key string) (err error) {
		switch key {
		case "tokenizer_class":
			c.class, err = p.stringOrNull()
		case "add_prefix_space":
			c.addPrefixSpace, err = p.boolOrNull()
		case "added_tokens_decoder":
			err = p.object(func(id string) error {
				n, err := strconv.ParseUint(id, 10, 31)
				if err != nil {
					return p.field("%q is not a token id", clip(id))
				}
				tok := AddedToken{ID: int(n)}
				err = p.addedToken(&tok)
				c.add(tok)
				return err
			})
		default:
			return c.special(p, key, specials)
		}
		return err
	})
}

func (p *parser) addedToken(tok *AddedToken) error {
	return p.object(func(key string) error { return p.addedTokenField(tok, key) })
}

// addedTokenField reads one member of an added token; others are skipped.
func (p *parser) addedTokenField(tok *AddedToken, key string) (err error) {
	switch key {
	case "content":
		tok.Content, err = p.string()
	case "single_word":
		tok.SingleWord, err = p.bool()
	case "lstrip":
		tok.LStrip, err = p.bool()
	case "rstrip":
		tok.RStrip, err = p.bool()
	case "normalized":
		tok.Normalized, err = p.bool()
	case "special":
		tok.Special, err = p.bool()
	default:
		err = p.skip()
	}
	return err
}

func (c *folderConfig) specialTokens(p *parser, specials map[string]bool) error {
	return p.object(func(key string) error { return c.special(p, key, specials) })
}

// special reads a member like "bos_token" or "additional_special_tokens".
func (c *folderConfig) special(p *parser, key string, specials map[string]bool) error {
	if key == "additional_special_tokens" && !p.isNull() {
		return p.list(func(int) error { return p.tokenName(specials) })
	}
	if strings.HasSuffix(key, "_token") && (p.peek() == '"' || p.peek() == '{') {
		return p.tokenName(specials)
	}
	return p.skip()
}

// tokenName reads a token given by its content or as an object with one.
func (p *parser) tokenName(specials map[string]bool) (err error) {
	var tok AddedToken
	if p.peek() == '{' {
		err = p.addedToken(&tok)
	} else {
		tok.Content, err = p.string()
	}
	if tok.Content != "" {
		specials[tok.Content] = true
	}
	return err
}

// stages chooses the stages by the class that the folder names, as the Python
// classes of that name have them.
func (c *folderConfig) stages(d *Definition) error {
	d.Decoder = DecoderConfig{Type: "ByteLevel"}
	switch class := strings.TrimSuffix(c.class, "Fast"); class {
	case "", "GPT2Tokenizer", "CodeGenTokenizer", "GPTNeoXTokenizer", "PreTrainedTokenizer":
		d.PreTokenizer = PreTokenizerConfig{Type: "ByteLevel", AddPrefixSpace: c.addPrefixSpace, UseRegex: true}
		if class == "GPTNeoXTokenizer" {
			d.Normalizer = NormalizerConfig{Type: "NFC"}
		}
	case "Qwen2Tokenizer":
		d.Normalizer = NormalizerConfig{Type: "NFC"}
		d.PreTokenizer = PreTokenizerConfig{Type: "Sequence", PreTokenizers: []PreTokenizerConfig{
			{Type: "Split", Pattern: Pattern{Regex: RegexQwen2}, Behavior: Isolated},
			{Type: "ByteLevel", AddPrefixSpace: c.addPrefixSpace},
		}}
	default:
		return placed(ErrUnsupported, "tokenizer_config.json.tokenizer_class", "%q without a tokenizer.json", clip(c.class))
	}
	return nil
}
