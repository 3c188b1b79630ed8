package bpe

import "bytes"

// Parse builds a tokenizer from the bytes of a tokenizer.json. Nothing of data is
// kept. "truncation" and "padding", which are about batches, are ignored. Errors
// name the field and the byte offset and wrap one of the package's errors.
func Parse(tokenizerJSON []byte) (*Tokenizer, error) {
	r, err := newJSONReader(tokenizerJSON, "")
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	p := parser{jsonReader: r, t: t}
	seenModel := false
	err = p.object(func(key string) (err error) {
		switch key {
		case "version":
			version, err := p.string()
			if err == nil && version != "1.0" {
				return placed(ErrUnsupported, p.place(), "version %q", clip(version))
			}
			return err
		case "added_tokens":
			if p.isNull() {
				return p.skip()
			}
			t.def.AddedTokens, err = p.addedTokens()
		case "normalizer":
			t.def.Normalizer, err = p.normalizer()
		case "pre_tokenizer":
			t.def.PreTokenizer, err = p.preTokenizer()
		case "post_processor":
			t.def.PostProcessor, err = p.postProcessor()
		case "decoder":
			t.def.Decoder, err = p.decoder()
		case "model":
			seenModel = true
			err = p.model()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !seenModel {
		return nil, p.field("there is no \"model\"")
	}
	return t.finish("added_tokens", "model.unk_token")
}

// parser reads the parts of tokenizer.json.
type parser struct {
	*jsonReader
	t *Tokenizer
}

func (p *parser) addedTokens() ([]AddedToken, error) {
	var out []AddedToken
	err := p.list(func(int) error {
		var tok AddedToken
		seenID, seenContent := false, false
		err := p.object(func(key string) (err error) {
			if key == "id" {
				seenID = true
				tok.ID, err = p.id()
				return err
			}
			seenContent = seenContent || key == "content"
			return p.addedTokenField(&tok, key)
		})
		if err == nil && !(seenID && seenContent) {
			err = p.field("an added token needs \"id\" and \"content\"")
		}
		out = append(out, tok)
		return err
	})
	return out, err
}

// model reads the BPE model. The merges need the vocabulary, which most files have
// in front of them; where not, the merges are read again at the end.
func (p *parser) model() error {
	mergesAt, haveVocab := -1, false
	kind := ""
	d := &p.t.def
	err := p.object(func(key string) (err error) {
		switch key {
		case "type":
			kind, err = p.string()
			if err == nil && kind != "BPE" {
				return placed(ErrUnsupported, p.place(), "the model %q", clip(kind))
			}
		case "vocab":
			haveVocab = true
			err = p.vocab()
		case "merges":
			if haveVocab {
				mergesAt = 0
				return p.merges()
			}
			p.peek()
			mergesAt = p.pos
			err = p.skip()
		case "unk_token":
			d.UnknownToken, err = p.stringOrNull()
		case "fuse_unk":
			d.FuseUnknown, err = p.boolOrNull()
		case "byte_fallback":
			d.ByteFallback, err = p.boolOrNull()
		case "ignore_merges":
			d.IgnoreMerges, err = p.boolOrNull()
		case "dropout":
			if p.isNull() {
				return p.skip()
			}
			v, err := p.float()
			if err == nil && v != 0 {
				return placed(ErrUnsupported, p.place(), "a dropout of %g: encoding would be random", v)
			}
			return err
		case "continuing_subword_prefix", "end_of_word_suffix":
			s, err := p.stringOrNull()
			if err == nil && s != "" {
				return placed(ErrUnsupported, p.place(), "%q", clip(s))
			}
			return err
		default:
			err = p.skip()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !haveVocab:
		return p.field("the model has no \"vocab\"")
	case mergesAt < 0:
		return p.field("the model has no \"merges\"")
	case mergesAt > 0:
		after := p.pos
		p.pos = mergesAt
		n := p.push("merges")
		if err := p.merges(); err != nil {
			return err
		}
		p.pop(n)
		p.pos = after
	}
	return nil
}

func (p *parser) boolOrNull() (bool, error) {
	if p.isNull() {
		return false, p.skip()
	}
	return p.bool()
}

// vocab reads the object of token to id.
func (p *parser) vocab() error {
	v := &p.t.model.vocab
	// An entry takes at least six bytes of the file: guess, and grow where wrong.
	guess := min(len(p.data)/16, 1<<18)
	v.arena = make([]byte, 0, guess*8)
	v.end = make([]uint32, 0, guess)
	v.ids = make([]int32, 0, guess)
	err := p.members(func(key []byte) error {
		v.arena = append(v.arena, key...)
		v.end = append(v.end, uint32(len(v.arena)))
		if c := p.peek(); c < '0' || c > '9' { // only to name the token in the error
			p.push(string(v.at(int32(len(v.end) - 1))))
		}
		id, err := p.id()
		if err != nil {
			return err
		}
		v.ids = append(v.ids, int32(id))
		return nil
	})
	if err != nil {
		return err
	}
	return v.freeze(p.place())
}

// merges reads the list of rules: ["a b", …], or [["a","b"], …] in newer files.
func (p *parser) merges() error {
	p.t.rules = make([]rule, 0, len(p.t.model.vocab.ids))
	var left, scratch []byte
	i := 0
	err := p.array(func(int) (err error) {
		var a, b []byte
		if p.peek() == '[' {
			sides := 0
			err = p.array(func(k int) error {
				s, err := p.stringBytes()
				if k == 0 {
					left = append(left[:0], s...)
				}
				b = s
				sides++
				return err
			})
			if err == nil && sides != 2 {
				err = p.field("merge %d has %d sides", i, sides)
			}
			a = left
		} else {
			var s []byte
			if s, err = p.stringBytes(); err == nil {
				var ok bool
				if a, b, ok = cutMerge(s); !ok {
					err = p.field("merge %d is %q, not two tokens with a space between", i, clip(s))
				}
			}
		}
		if err != nil {
			return err
		}
		if scratch, err = p.t.addMerge(a, b, scratch); err != nil {
			n := p.pushIndex(i)
			defer p.pop(n)
			return placed(ErrMerge, p.place(), "%v", err)
		}
		i++
		return nil
	})
	return err
}

// cutMerge splits "a b". Tokens with spaces cannot be written in this form.
func cutMerge(s []byte) (a, b []byte, ok bool) {
	k := bytes.IndexByte(s, ' ')
	if k < 0 || bytes.IndexByte(s[k+1:], ' ') >= 0 {
		return nil, nil, false
	}
	return s[:k], s[k+1:], true
}
