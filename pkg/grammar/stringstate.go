package grammar

import "unicode/utf16"

// A sub is where inside a character of a JSON string the text stands, for
// strings that may be spelled with any escape (RFC 8259, section 7).
type sub uint8

const (
	subWhole  sub = iota // between characters
	subEscape            // after a backslash
	subU                 // after \u
	subU1                // after its first digit, not d
	subUD                // after the first digit d
	subU2                // after two digits of no surrogate
	subU3
	subH2     // after two digits of a high surrogate
	subH3     // after three
	subPair   // after a high surrogate
	subPairE  // after the backslash of the low one
	subPairU  // after \u
	subPairD  // after its first digit
	subPair2  // after two
	subPair3  // after three
	subTail1  // one UTF-8 continuation byte is missing
	subTail2  // two
	subTail3  // three
	subTailE0 // two, the first from 0xa0 on
	subTailED // two, the first up to 0x9f
	subTailF0 // three, the first from 0x90 on
	subTailF4 // three, the first up to 0x8f
	subCount
	subClose // the closing quote
	subNone  // not legal
)

// subNext is the state after a byte.
var subNext = func() (next [subCount][256]sub) {
	set := func(from sub, lo, hi byte, to sub) {
		for c := int(lo); c <= int(hi); c++ {
			next[from][c] = to
		}
	}
	hex := func(from, to sub) {
		set(from, '0', '9', to)
		set(from, 'a', 'f', to)
		set(from, 'A', 'F', to)
	}
	for s := range next {
		for c := range next[s] {
			next[s][c] = subNone
		}
	}
	set(subWhole, 0x20, 0x7f, subWhole)
	set(subWhole, '"', '"', subClose)
	set(subWhole, '\\', '\\', subEscape)
	set(subWhole, 0xc2, 0xdf, subTail1)
	set(subWhole, 0xe0, 0xef, subTail2)
	set(subWhole, 0xe0, 0xe0, subTailE0)
	set(subWhole, 0xed, 0xed, subTailED)
	set(subWhole, 0xf0, 0xf0, subTailF0)
	set(subWhole, 0xf1, 0xf3, subTail3)
	set(subWhole, 0xf4, 0xf4, subTailF4)
	for _, c := range []byte(`"\/bfnrt`) {
		set(subEscape, c, c, subWhole)
	}
	set(subEscape, 'u', 'u', subU)
	hex(subU, subU1)
	set(subU, 'd', 'd', subUD)
	set(subU, 'D', 'D', subUD)
	hex(subU1, subU2)
	set(subUD, '0', '7', subU2)
	set(subUD, '8', '9', subH2)
	set(subUD, 'a', 'b', subH2)
	set(subUD, 'A', 'B', subH2)
	hex(subU2, subU3)
	hex(subU3, subWhole)
	hex(subH2, subH3)
	hex(subH3, subPair)
	set(subPair, '\\', '\\', subPairE)
	set(subPairE, 'u', 'u', subPairU)
	set(subPairU, 'd', 'd', subPairD)
	set(subPairU, 'D', 'D', subPairD)
	set(subPairD, 'c', 'f', subPair2)
	set(subPairD, 'C', 'F', subPair2)
	hex(subPair2, subPair3)
	hex(subPair3, subWhole)
	set(subTail1, 0x80, 0xbf, subWhole)
	set(subTail2, 0x80, 0xbf, subTail1)
	set(subTail3, 0x80, 0xbf, subTail2)
	set(subTailE0, 0xa0, 0xbf, subTail1)
	set(subTailED, 0x80, 0x9f, subTail1)
	set(subTailF0, 0x90, 0xbf, subTail2)
	set(subTailF4, 0x80, 0x8f, subTail2)
	return next
}()

// subLeft is how many bytes end the character at least.
var subLeft = func() (left [subCount]int) {
	for s := range left {
		if s > 0 {
			left[s] = 1000
		}
	}
	for range left {
		for s := 1; s < len(left); s++ {
			for c := range 256 {
				if t := subNext[s][c]; t < subCount {
					left[s] = min(left[s], 1+left[t])
				}
			}
		}
	}
	return left
}()

// decode goes on decoding a character: part is what its bytes before c gave,
// from and to the states before and after c. When to is subWhole the result is
// the character.
func decode(part rune, from, to sub, c byte) rune {
	switch from {
	case subWhole:
		switch {
		case c < 0x80:
			return rune(c)
		case c < 0xe0:
			return rune(c & 0x1f)
		case c < 0xf0:
			return rune(c & 0xf)
		}
		return rune(c & 7)
	case subEscape:
		switch c {
		case 'b':
			return '\b'
		case 'f':
			return '\f'
		case 'n':
			return '\n'
		case 'r':
			return '\r'
		case 't':
			return '\t'
		case 'u':
			return 0
		}
		return rune(c)
	case subPair, subPairE:
		return part
	case subU, subU1, subUD, subU2, subU3, subH2, subH3:
		return part<<4 | unhex(c)
	case subPairU:
		// The high surrogate's ten bits, then the low one's four digits.
		return part&0x3ff<<16 | unhex(c)<<12
	case subPairD:
		return part | unhex(c)<<8
	case subPair2:
		return part | unhex(c)<<4
	case subPair3:
		part |= unhex(c)
		return utf16.DecodeRune(0xd800|part>>16, part&0xffff)
	}
	return part<<6 | rune(c&0x3f)
}

func unhex(c byte) rune {
	switch {
	case c <= '9':
		return rune(c - '0')
	case c <= 'F':
		return rune(c - 'A' + 10)
	}
	return rune(c - 'a' + 10)
}
