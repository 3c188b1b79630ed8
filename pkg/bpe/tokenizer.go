package bpe

import (
	"slices"
	"sync"
)

// Tokenizer turns text into ids and back. It is made by [Load], [Parse] or [New],
// never changes, and may be used by several goroutines at once.
type Tokenizer struct {
	def       Definition // the stages, without Vocab and Merges
	model     model
	added     *addedVocab
	normalize normalizer // nil: none
	stages    []stage
	before    []int // ids that the post-processor puts in front
	after     []int
	decode    decodeChain
	size      int
	pieces    func() *pieceTable // made on the first call

	encoders sync.Pool // of *encoder: scratch memory, no results

	// While building:
	rules      []rule // the merge rules in order
	lastJoined int32  // the vocabulary's entry that the last rule makes
}

// EncodeOptions changes how [Tokenizer.Encode] reads text. The zero value, or
// nil, is right for text that comes from outside.
type EncodeOptions struct {
	// ParseSpecial turns the spelling of special tokens into their ids. Without it
	// "<|im_end|>" in the text is plain characters.
	ParseSpecial bool
	// AddSpecial lets the post-processor add what the model expects around a text,
	// such as a token for the beginning.
	AddSpecial bool
}

// encoder is the state of one call of Encode.
type encoder struct {
	t       *Tokenizer
	out     []int
	word    wordState
	atStart bool // the piece is at the start of the whole text
}

// Encode returns the ids of text. Bytes that are not UTF-8 count as U+FFFD. The
// result is nil when text has no tokens.
func (t *Tokenizer) Encode(text string, opts *EncodeOptions) []int {
	if opts == nil {
		opts = &EncodeOptions{}
	}
	text = validUTF8(text)
	e, _ := t.encoders.Get().(*encoder)
	if e == nil {
		e = &encoder{t: t}
	}
	if text != "" {
		e.out = make([]int, 0, len(text)/3+len(t.before)+len(t.after)+1)
	}
	if opts.AddSpecial {
		e.out = append(e.out, t.before...)
	}
	e.text(text, opts.ParseSpecial)
	if opts.AddSpecial {
		e.out = append(e.out, t.after...)
	}
	out := e.out
	e.out = nil
	e.word.release()
	t.encoders.Put(e)
	if len(out) == 0 {
		return nil
	}
	return out
}

// text takes out the added tokens that match the text as written.
func (e *encoder) text(text string, parseSpecial bool) {
	m := &e.t.added.raw
	if m.useless(parseSpecial) {
		e.normalized(text, parseSpecial, true)
		return
	}
	m.cut(text, parseSpecial,
		func(id int) { e.out = append(e.out, id) },
		func(start, end int) { e.normalized(text[start:end], parseSpecial, start == 0) })
}

// normalized normalises a part and takes out the added tokens that match then.
func (e *encoder) normalized(part string, parseSpecial, first bool) {
	if part == "" {
		return
	}
	if e.t.normalize != nil {
		part = e.t.normalize(part)
	}
	m := &e.t.added.normalized
	if m.useless(parseSpecial) {
		e.atStart = first
		e.piece(0, part)
		return
	}
	m.cut(part, parseSpecial,
		func(id int) { e.out = append(e.out, id) },
		func(start, end int) {
			e.atStart = first && start == 0
			e.piece(0, part[start:end])
		})
}

// piece takes a piece through the pre-tokenisers from number next on and then
// through the model.
func (e *encoder) piece(next int, piece string) {
	switch {
	case piece == "":
	case next < len(e.t.stages):
		e.t.stages[next].cut(e, piece, next+1)
	default:
		e.out = e.t.model.encode(e.out, piece, &e.word)
	}
}

// Token returns the spelling of an id as in tokenizer.json ("Ġthe"), and whether
// there is such a token.
func (t *Tokenizer) Token(id int) (string, bool) {
	if k, ok := t.added.byID[id]; ok {
		return t.added.tokens[k].Content, true
	}
	content, ok := t.model.vocab.content(id)
	return string(content), ok
}

// ID returns the id of a token spelled as in tokenizer.json.
func (t *Tokenizer) ID(token string) (int, bool) {
	if id, ok := t.added.byContent[token]; ok {
		return id, true
	}
	id := t.model.vocab.id([]byte(token))
	return int(id), id >= 0
}

// VocabSize returns the largest id plus one, added tokens included. Not every id
// below it need have a token.
func (t *Tokenizer) VocabSize() int { return t.size }

// IsSpecial reports whether an id is that of a special added token.
func (t *Tokenizer) IsSpecial(id int) bool {
	k, ok := t.added.byID[id]
	return ok && t.added.tokens[k].Special
}

// AddedTokens returns the added tokens, by id.
func (t *Tokenizer) AddedTokens() []AddedToken { return slices.Clone(t.added.tokens) }
