package bpe

import "strings"

// Decoder turns ids into text one at a time. It shows only whole characters: bytes
// that may yet become one are held back, at most three. It always moves forward:
// what can no longer become a character is shown as U+FFFD at once. Tokens that are
// whole characters cost no allocation.
//
// For byte-level tokenizers all pieces together, with that of Flush, are exactly
// what [Tokenizer.Decode] returns for all ids. With byte fallback (Llama 2) Decode
// spells a whole run of byte tokens as U+FFFD when any of it is not UTF-8; a Decoder
// does so only from the fault on. A Decoder is for one goroutine.
type Decoder struct {
	t    *Tokenizer
	skip bool
	tail []byte // bytes of a character that is not complete

	pieces *pieceTable // for ByteLevel

	// For other decoders than ByteLevel.
	started bool // a token has been taken
	shown   bool // a token (or run of byte tokens) has passed the fallback
	broken  bool // the run of byte tokens is not UTF-8
	strip   int  // how many characters are still to be stripped at the start
}

// NewDecoder returns a decoder at the start of a text.
func (t *Tokenizer) NewDecoder(opts *DecodeOptions) *Decoder {
	d := &Decoder{t: t, skip: opts != nil && opts.SkipSpecial}
	if t.decode.byteLevel {
		d.pieces = t.pieces()
	}
	d.restart()
	return d
}

func (d *Decoder) restart() {
	d.tail = d.tail[:0]
	d.started, d.shown, d.broken = false, false, false
	d.strip = d.t.decode.strip.start
}

// Add takes the next id and returns the text that it completes, which is often
// empty within a character.
func (d *Decoder) Add(id int) string {
	if !d.t.decode.byteLevel {
		return d.addToken(id)
	}
	if len(d.tail) == 0 {
		if text, ok := d.pieces.piece(id, d.skip); ok {
			return text
		}
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
	var text string
	if d.t.decode.byteLevel {
		text = validUTF8(string(d.tail))
	} else {
		text = d.stripped(d.endRun())
	}
	d.restart()
	return text
}

// addToken is Add for the other decoders: the chain of decodeChain.text, a token
// at a time.
func (d *Decoder) addToken(id int) string {
	c := &d.t.decode
	token, ok := d.t.decodable(id, d.skip)
	if !ok {
		return ""
	}
	first := !d.started
	d.started = true
	if c.joined {
		if first {
			return token
		}
		return " " + token
	}
	token = change(token, first, c.before)
	if !c.fallback {
		return d.stripped(change(token, first, c.after))
	}
	if b, ok := fallbackByte(token); ok {
		return d.stripped(d.addByte(b))
	}
	text := d.endRun()
	return d.stripped(text + d.passed(token))
}

// addByte takes a byte token and returns the character that it completes.
func (d *Decoder) addByte(b byte) string {
	if d.broken {
		return replacement
	}
	d.tail = append(d.tail, b)
	switch n, complete := sequence(d.tail); {
	case complete:
		text := string(d.tail)
		d.tail = d.tail[:0]
		return d.passed(text)
	case n == len(d.tail) && unfinished(d.tail) == n:
		return ""
	}
	text := strings.Repeat(replacement, len(d.tail))
	d.tail, d.broken = d.tail[:0], true
	return d.passed(text)
}

// endRun ends a run of byte tokens.
func (d *Decoder) endRun() string {
	d.broken = false
	if len(d.tail) == 0 {
		return ""
	}
	text := strings.Repeat(replacement, len(d.tail))
	d.tail = d.tail[:0]
	return d.passed(text)
}

// passed applies the changes behind the fallback.
func (d *Decoder) passed(text string) string {
	first := !d.shown
	d.shown = true
	return change(text, first, d.t.decode.after)
}

// stripped takes off what the decoder strips from the start of the text.
func (d *Decoder) stripped(text string) string {
	for d.strip > 0 && text != "" {
		content := d.t.decode.strip.content
		if !strings.HasPrefix(text, content) {
			d.strip = 0
			break
		}
		text = text[len(content):]
		d.strip--
	}
	return text
}
