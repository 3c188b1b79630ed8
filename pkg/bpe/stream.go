package bpe

import (
	"strings"
	"unicode/utf8"
)

// Decoder turns ids into text one at a time. It shows only whole characters: bytes
// that may yet become one are held back, at most three. It always moves forward:
// what can no longer become a character is shown as U+FFFD at once.
//
// For byte-level tokenizers all pieces together, with that of Flush, are exactly
// what [Tokenizer.Decode] returns for all ids. A Decoder is for one goroutine.
type Decoder struct {
	t    *Tokenizer
	skip bool
	tail []byte // bytes of a character that is not complete

	// Other decoders look at several tokens at once. For them the last ids are
	// decoded again: those of the last piece, as context, and those not yet shown.
	ids    []int
	shown  int    // how many of ids have been shown
	prefix string // their text
}

// NewDecoder returns a decoder at the start of a text.
func (t *Tokenizer) NewDecoder(opts *DecodeOptions) *Decoder {
	return &Decoder{t: t, skip: opts != nil && opts.SkipSpecial}
}

// Add takes the next id and returns the text that it completes, which is often
// empty within a character.
func (d *Decoder) Add(id int) string {
	if !d.t.decode.byteLevel {
		return d.addContext(id)
	}
	d.tail = d.t.appendTokenBytes(d.tail, id, d.skip)
	n := len(d.tail) - unfinished(d.tail)
	if n == 0 {
		return ""
	}
	text := validUTF8(string(d.tail[:n]))
	d.tail = d.tail[:copy(d.tail, d.tail[n:])]
	return text
}

// Flush returns what is held back, as U+FFFD, and takes the decoder back to the
// start of a text.
func (d *Decoder) Flush() string {
	if d.t.decode.byteLevel {
		text := validUTF8(string(d.tail))
		d.tail = d.tail[:0]
		return text
	}
	text := d.rest(d.t.Decode(d.ids, nil))
	d.ids, d.shown, d.prefix = d.ids[:0], 0, ""
	return text
}

// maxHeld is the number of tokens after which an incomplete character is shown as
// what it is: a character has at most four bytes, so four tokens.
const maxHeld = 4

func (d *Decoder) addContext(id int) string {
	if _, ok := d.t.decodable(id, d.skip); !ok {
		return ""
	}
	d.ids = append(d.ids, id)
	full := d.t.Decode(d.ids, nil)
	if strings.HasSuffix(full, replacement) && len(d.ids)-d.shown < maxHeld {
		return ""
	}
	text := d.rest(full)
	d.ids = d.ids[:copy(d.ids, d.ids[d.shown:])]
	d.shown = len(d.ids)
	d.prefix = d.t.Decode(d.ids, nil)
	return text
}

// rest returns what full has beyond the text already shown. Where later bytes have
// changed that text (a run of byte tokens that turned out not to be UTF-8) it
// begins behind the characters that both have.
func (d *Decoder) rest(full string) string {
	if text, ok := strings.CutPrefix(full, d.prefix); ok {
		return text
	}
	i := 0
	for i < len(full) && i < len(d.prefix) && full[i] == d.prefix[i] {
		i++
	}
	for i > 0 && i < len(full) && !utf8.RuneStart(full[i]) {
		i--
	}
	return full[i:]
}
