package bpe

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

// rule is a merge rule by ids: the two sides and what they make.
type rule struct{ left, right, joined int32 }

// New builds a tokenizer from its definition. Errors name the field that is wrong
// and wrap [ErrField], [ErrVocab], [ErrMerge], [ErrAddedToken] or [ErrUnsupported].
func New(def Definition) (*Tokenizer, error) {
	t := &Tokenizer{def: def}
	v := &t.model.vocab
	for id, content := range def.Vocab {
		if content == "" {
			continue
		}
		if !utf8.ValidString(content) {
			return nil, placed(ErrVocab, placeIndex("Vocab", id), "%q is not UTF-8", clip(content))
		}
		v.arena = append(v.arena, content...)
		v.end = append(v.end, uint32(len(v.arena)))
		v.ids = append(v.ids, int32(id))
	}
	if err := v.freeze("Vocab"); err != nil {
		return nil, err
	}
	t.rules = make([]rule, 0, len(def.Merges))
	var scratch []byte
	for i, m := range def.Merges {
		var err error
		if scratch, err = t.addMerge([]byte(m[0]), []byte(m[1]), scratch); err != nil {
			return nil, placed(ErrMerge, placeIndex("Merges", i), "%v", err)
		}
	}
	return t.finish("AddedTokens", "UnknownToken")
}

func placeIndex(place string, i int) string { return fmt.Sprintf("%s[%d]", place, i) }

// addMerge adds the next rule; scratch holds the concatenation meanwhile.
func (t *Tokenizer) addMerge(a, b, scratch []byte) ([]byte, error) {
	v := &t.model.vocab
	scratch = append(append(scratch[:0], a...), b...)
	// The rules usually come in the order of the tokens that they make: try the
	// token behind the last one before searching.
	next := t.lastJoined + 1
	if int(next) >= len(v.ids) || string(v.at(next)) != string(scratch) {
		next = v.find(scratch)
	}
	left, right, joined := v.id(a), v.id(b), int32(-1)
	if next >= 0 {
		joined, t.lastJoined = v.ids[next], next
	}
	switch {
	case left < 0:
		return scratch, fmt.Errorf("%q is not in the vocabulary", clip(a))
	case right < 0:
		return scratch, fmt.Errorf("%q is not in the vocabulary", clip(b))
	case joined < 0:
		return scratch, fmt.Errorf("%q, which %q and %q make, is not in the vocabulary", clip(scratch), clip(a), clip(b))
	}
	t.rules = append(t.rules, rule{left, right, joined})
	return scratch, nil
}

// finish compiles the stages of t.def over the vocabulary and merges that are in
// place. The arguments name places for errors.
func (t *Tokenizer) finish(addedPlace, unknownPlace string) (*Tokenizer, error) {
	d := &t.def
	d.Vocab, d.Merges = nil, nil // the tables have them
	t.model.pairs = newPairTable(t.rules)
	t.rules = nil
	var err error
	if t.normalize, err = compileNormalizer(d.Normalizer, "normalizer"); err != nil {
		return nil, err
	}
	var byteLevel bool
	if t.stages, byteLevel, err = compilePreTokenizer(d.PreTokenizer); err != nil {
		return nil, err
	}
	if err = t.model.prepare(d, byteLevel, unknownPlace); err != nil {
		return nil, err
	}
	if t.added, err = newAddedVocab(d.AddedTokens, &t.model.vocab, t.normalize, addedPlace); err != nil {
		return nil, err
	}
	t.size = len(t.model.vocab.byID)
	for _, a := range t.added.tokens {
		t.size = max(t.size, a.ID+1)
	}
	if t.before, t.after, err = t.compilePostProcessor(d.PostProcessor, "post_processor", 0); err != nil {
		return nil, err
	}
	if t.decode, err = compileDecoder(d.Decoder, "decoder"); err != nil {
		return nil, err
	}
	t.pieces = sync.OnceValue(t.newPieceTable)
	return t, nil
}

// compilePostProcessor returns the ids in front of a text and behind it.
func (t *Tokenizer) compilePostProcessor(p PostProcessorConfig, place string, depth int) (before, after []int, err error) {
	if depth > maxDepth {
		return nil, nil, placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
	switch p.Type {
	case "", "ByteLevel":
		return nil, nil, nil
	case "Sequence":
		found := false
		for i, q := range p.Processors {
			where := fmt.Sprintf("%s.processors[%d]", place, i)
			b, a, err := t.compilePostProcessor(q, where, depth+1)
			if err != nil {
				return nil, nil, err
			}
			if b == nil && a == nil {
				continue
			}
			if found {
				return nil, nil, placed(ErrUnsupported, where, "more than one template")
			}
			before, after, found = b, a, true
		}
		return before, after, nil
	case "TemplateProcessing":
		texts := 0
		for i, piece := range p.Single {
			where := fmt.Sprintf("%s.single[%d]", place, i)
			if piece.Special == "" {
				texts++
				continue
			}
			for _, id := range piece.IDs {
				if _, ok := t.Token(id); !ok {
					return nil, nil, placed(ErrField, where, "the special token %q has the id %d, which no token has", clip(piece.Special), id)
				}
			}
			if len(before)+len(after)+len(piece.IDs) > maxGrowth {
				return nil, nil, placed(ErrUnsupported, where, "more than %d special tokens", maxGrowth)
			}
			if texts == 0 {
				before = append(before, piece.IDs...)
			} else {
				after = append(after, piece.IDs...)
			}
		}
		if texts != 1 {
			return nil, nil, placed(ErrUnsupported, place+".single", "a template with %d texts", texts)
		}
		return before, after, nil
	}
	return nil, nil, placed(ErrUnsupported, place+".type", "the post-processor %q", clip(p.Type))
}
