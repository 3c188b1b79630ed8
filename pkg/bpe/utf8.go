package bpe

import "unicode/utf8"

const replacement = "\uFFFD"

// validUTF8 returns text with each maximal ill-formed subsequence replaced by
// one U+FFFD: the Unicode Standard's recommended practice (section 3.9,
// "U+FFFD Substitution of Maximal Subparts"), which Rust and Python follow.
func validUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string(appendValid(make([]byte, 0, len(text)+16), []byte(text)))
}

// appendValid appends b, repaired as by validUTF8.
func appendValid(dst, b []byte) []byte {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			dst = append(dst, b[i])
			i++
			continue
		}
		n, complete := sequence(b[i:])
		if complete {
			dst = append(dst, b[i:i+n]...)
		} else {
			dst = append(dst, replacement...)
		}
		i += n
	}
	return dst
}

// sequence measures the UTF-8 sequence at the start of b (which is not empty):
// its length if it is complete, else the length of the maximal subpart, at
// least 1. When the subpart reaches the end of b, more bytes may complete it.
// The ranges are table 3-7 of the Unicode Standard.
func sequence(b []byte) (n int, complete bool) {
	c := b[0]
	lo, hi, need := byte(0x80), byte(0xBF), 0
	switch {
	case c < 0x80:
		return 1, true
	case c < 0xC2:
		return 1, false
	case c < 0xE0:
		need = 2
	case c < 0xF0:
		need = 3
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c < 0xF5:
		need = 4
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	default:
		return 1, false
	}
	for n = 1; n < need; n++ {
		if n == len(b) || b[n] < lo || b[n] > hi {
			return n, false
		}
		lo, hi = 0x80, 0xBF
	}
	return need, true
}

// unfinished returns how many bytes at the end of b begin a sequence that later
// bytes may complete: 0 to 3.
func unfinished(b []byte) int {
	for k := 1; k <= 3 && k <= len(b); k++ {
		c := b[len(b)-k]
		if c >= 0xC0 { // a first byte
			if n, complete := sequence(b[len(b)-k:]); !complete && n == k && c >= 0xC2 && c < 0xF5 {
				return k
			}
			return 0
		}
		if c < 0x80 {
			return 0
		}
	}
	return 0
}
