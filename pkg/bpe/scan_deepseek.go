package bpe

import "unicode/utf8"

// deepSeek3Scanner matches the last expression of DeepSeek V3 and R1:
//
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//	 ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// Numbers and control characters match nothing by themselves.
type deepSeek3Scanner struct{ t *classTable }

func (d deepSeek3Scanner) next(s string, i int) (int, int) {
	for i < len(s) {
		if end := d.match(s, i); end > i {
			return i, end
		}
		_, n := d.t.at(s, i)
		i += n
	}
	return len(s), len(s)
}

// match returns the end of the match that begins at i, or i.
func (d deepSeek3Scanner) match(s string, i int) int {
	t := d.t
	c, n := t.at(s, i)
	if s[i] < utf8.RuneSelf && c&classPunct != 0 { // ASCII punctuation and symbols
		end := i + 1
		for end < len(s) && isASCIILetter(s[end]) {
			end++
		}
		if end > i+1 {
			return end
		}
	}
	const word = classL | classM
	if c&(classL|classP|classS) == 0 && !isLineEnd(s[i]) {
		if e, m := t.at(s, i+n); e&word != 0 {
			return t.while(s, i+n+m, word)
		}
	}
	if c&word != 0 {
		return t.while(s, i+n, word)
	}
	j := i
	if s[j] == ' ' {
		c, n = t.at(s, j+1)
		j++
	}
	if c&(classP|classS) != 0 {
		end := t.while(s, j+n, classP|classS)
		for end < len(s) && isLineEnd(s[end]) {
			end++
		}
		return end
	}
	if end := lineEnds(t, s, i); end > i {
		return end
	}
	if s[i] == ' ' || c&classSpace != 0 {
		return spaces(t, s, i)
	}
	return i
}

func isASCIILetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
