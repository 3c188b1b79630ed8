package bpe

import "unicode/utf8"

// A scanner finds the matches of one regular expression, from left to right, as
// a leftmost-first (Perl-like) engine finds them.
type scanner interface {
	// next returns the first match in s that begins at i or later. When there is
	// none it returns len(s), len(s). Matches are never empty.
	next(s string, i int) (start, end int)
}

// spaces matches the alternatives that end most of the expressions,
//
//	\s+(?!\S)|\s+
//
// at a white-space character: the run of white space, without its last
// character when something else follows, which then begins with that character.
func spaces(t *classTable, s string, i int) int {
	end := t.while(s, i, classSpace)
	if end == len(s) {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(s[i:end])
	if end-last > i {
		return end - last
	}
	return end
}

// lineEnds matches \s*[\r\n]+ at i: white space up to and with the last line end
// in the run. It returns i when the run has none.
func lineEnds(t *classTable, s string, i int) int {
	end := t.while(s, i, classSpace)
	for end > i && s[end-1] != '\n' && s[end-1] != '\r' {
		end--
	}
	return end
}

// contraction matches 's|'t|'re|'ve|'m|'ll|'d at i and returns its end, or i. With
// fold the case of letters does not count; then "ſ" (U+017F) is also an s.
func contraction(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	a, b := s[i+1], byte(0)
	if i+2 < len(s) {
		b = s[i+2]
	}
	if fold {
		if a == 0xC5 && b == 0xBF { // ſ
			return i + 3
		}
		a, b = lowerASCII(a), lowerASCII(b)
	}
	switch {
	case a == 's', a == 't', a == 'm', a == 'd':
		return i + 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return i + 3
	}
	return i
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
