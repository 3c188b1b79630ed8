package bpe

// gpt2Scanner matches RegexGPT2, the expression of GPT-2's encoder.py and of the
// ByteLevel pre-tokeniser. It matches at every place.
type gpt2Scanner struct{ t *classTable }

func (g gpt2Scanner) next(s string, i int) (int, int) {
	if i >= len(s) {
		return len(s), len(s)
	}
	if end := contraction(s, i, false); end > i {
		return i, end
	}
	j := i
	if s[j] == ' ' && j+1 < len(s) {
		j++
	}
	switch c, n := g.t.at(s, j); {
	case c&classL != 0:
		return i, g.t.while(s, j+n, classL)
	case c&classN != 0:
		return i, g.t.while(s, j+n, classN)
	case c&classSpace == 0:
		return i, g.t.until(s, j+n, classSpace|classL|classN)
	}
	return i, spaces(g.t, s, i)
}
