package bpe

import (
	"fmt"
	"unicode/utf8"
)

// model is the merging stage: the vocabulary, the merge rules and what to do with
// characters that have no token.
type model struct {
	vocab vocab
	pairs pairTable

	byteLevel    bool       // pieces are bytes, to be spelled in the byte alphabet
	byteIDs      [256]int32 // token of each byte in that alphabet, -1 for none
	lowRunes     [0x180]int32
	runeIDs      map[rune]int32 // tokens of one character from U+0180 on
	fallback     [256]int32     // tokens "<0x00>"…, with byteFallback
	byteFallback bool
	unknown      int32 // -1: unknown characters are dropped
	fuseUnknown  bool
	ignoreMerges bool
}

// prepare fills the tables for single characters from the vocabulary.
func (m *model) prepare(d *Definition, byteLevel bool, place string) error {
	m.byteLevel = byteLevel
	m.fuseUnknown, m.byteFallback, m.ignoreMerges = d.FuseUnknown, d.ByteFallback, d.IgnoreMerges
	for i := range m.lowRunes {
		m.lowRunes[i] = -1
	}
	for e, id := range m.vocab.ids {
		content := m.vocab.at(int32(e))
		if len(content) == 0 || len(content) > utf8.UTFMax {
			continue
		}
		r, n := utf8.DecodeRune(content)
		switch {
		case n != len(content) || r == utf8.RuneError && n == 1:
		case int(r) < len(m.lowRunes):
			m.lowRunes[r] = id
		default:
			if m.runeIDs == nil {
				m.runeIDs = map[rune]int32{}
			}
			m.runeIDs[r] = id
		}
	}
	complete := byteLevel
	for b := range m.byteIDs {
		m.byteIDs[b] = m.lowRunes[byteToRune[b]]
		complete = complete && m.byteIDs[b] >= 0
		m.fallback[b] = -1
		if d.ByteFallback {
			m.fallback[b] = m.vocab.id(fmt.Appendf(nil, "<0x%02X>", b))
		}
	}
	m.unknown = -1
	if d.UnknownToken != "" {
		m.unknown = m.vocab.id([]byte(d.UnknownToken))
		if m.unknown < 0 && !complete {
			return placed(ErrVocab, place, "the unknown token %q is not in the vocabulary, which lacks characters", d.UnknownToken)
		}
	}
	return nil
}

func (m *model) runeID(r rune) int32 {
	if int(r) < len(m.lowRunes) {
		return m.lowRunes[r]
	}
	if id, ok := m.runeIDs[r]; ok {
		return id
	}
	return -1
}

// encode appends the ids of a piece, which is not empty.
func (m *model) encode(dst []int, piece string, w *wordState) []int {
	if m.ignoreMerges {
		key := append(w.key[:0], piece...)
		if m.byteLevel {
			key = appendMapped(key[:0], piece)
		}
		w.key = key
		if id := m.vocab.id(key); id >= 0 {
			return append(dst, int(id))
		}
	}
	w.ids = w.ids[:0]
	if m.byteLevel {
		m.bytes(w, piece)
	} else {
		m.runes(w, piece)
	}
	ids := w.ids
	if len(ids) > 1 {
		ids = m.pairs.mergeAll(w)
	}
	for _, id := range ids {
		dst = append(dst, int(id))
	}
	return dst
}

// bytes sets the symbols of a piece to the tokens of its bytes.
func (m *model) bytes(w *wordState, piece string) {
	unknown := 0
	for i := range len(piece) {
		id := m.byteIDs[piece[i]]
		if id >= 0 {
			if unknown > 0 {
				unknown = m.flush(w, unknown)
			}
			w.ids = append(w.ids, id)
			continue
		}
		unknown = m.unknownRune(w, byteToRune[piece[i]], unknown)
	}
	m.flush(w, unknown)
}

// runes sets the symbols of a piece to the tokens of its characters.
func (m *model) runes(w *wordState, piece string) {
	unknown := 0
	for _, r := range piece {
		if id := m.runeID(r); id >= 0 {
			unknown = m.flush(w, unknown)
			w.ids = append(w.ids, id)
			continue
		}
		unknown = m.unknownRune(w, r, unknown)
	}
	m.flush(w, unknown)
}

// unknownRune handles a character without a token. unknown is how many unknown
// tokens (0 or 1) wait to be written: as in tokenizers they are written when the
// next known character or the end comes, so behind any fallback bytes between.
func (m *model) unknownRune(w *wordState, r rune, unknown int) int {
	if m.byteFallback {
		var buf [utf8.UTFMax]byte
		n := utf8.EncodeRune(buf[:], r)
		all := true
		for _, b := range buf[:n] {
			all = all && m.fallback[b] >= 0
		}
		if all {
			for _, b := range buf[:n] {
				w.ids = append(w.ids, m.fallback[b])
			}
			return unknown
		}
	}
	if m.unknown < 0 {
		return unknown
	}
	if unknown > 0 && !m.fuseUnknown {
		m.flush(w, unknown)
	}
	return 1
}

func (m *model) flush(w *wordState, unknown int) int {
	if unknown > 0 {
		w.ids = append(w.ids, m.unknown)
	}
	return 0
}
