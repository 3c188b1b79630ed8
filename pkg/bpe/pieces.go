package bpe

import "unicode/utf8"

// pieceTable holds the text of each token that is whole characters, so that a
// stream shows the usual token without allocating. It is made for the first
// [Decoder] of a byte-level tokenizer.
type pieceTable struct {
	text  string
	end   []uint32 // id → end of its text in text (its start is the end before)
	flags []pieceFlags
}

type pieceFlags uint8

const (
	pieceWhole   pieceFlags = 1 << iota // the token is whole characters
	pieceSpecial                        // the token is left out by SkipSpecial
)

func (t *Tokenizer) newPieceTable() *pieceTable {
	p := &pieceTable{end: make([]uint32, t.size), flags: make([]pieceFlags, t.size)}
	text := make([]byte, 0, len(t.model.vocab.arena))
	for id := range t.size {
		start := len(text)
		text = t.appendTokenBytes(text, id, false)
		if utf8.Valid(text[start:]) {
			p.flags[id] = pieceWhole
		} else {
			text = text[:start]
		}
		p.end[id] = uint32(len(text))
	}
	for k, tok := range t.added.tokens {
		if t.added.specials[t.added.decoded[k]] {
			p.flags[tok.ID] |= pieceSpecial
		}
	}
	p.text = string(text)
	return p
}

// piece returns the text of a token, and whether it is known without its
// neighbours.
func (p *pieceTable) piece(id int, skip bool) (string, bool) {
	if id < 0 || id >= len(p.end) {
		return "", true
	}
	switch f := p.flags[id]; {
	case skip && f&pieceSpecial != 0:
		return "", true
	case f&pieceWhole == 0:
		return "", false
	}
	start := uint32(0)
	if id > 0 {
		start = p.end[id-1]
	}
	return p.text[start:p.end[id]], true
}
