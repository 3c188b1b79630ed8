package bpe

// llama3Scanner matches the family of expressions that GPT-4's cl100k began:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// It matches at every place.
type llama3Scanner struct {
	t           *classTable
	contraction bool  // the first alternative is there
	letter      class // what a word consists of: L, or L and M
	digits      int   // at most so many digits to a number; 0: any number
	lineEnds    bool  // punctuation takes the line ends behind it
}

func (l llama3Scanner) next(s string, i int) (int, int) {
	if i >= len(s) {
		return len(s), len(s)
	}
	t := l.t
	if l.contraction {
		if end := contraction(s, i, true); end > i {
			return i, end
		}
	}
	c, n := t.at(s, i)
	if c&(classL|classN) == 0 && !isLineEnd(s[i]) {
		// One character of any other kind may lead a word. A mark that is itself
		// a letter here leads too, and failing that begins the word.
		if d, m := t.at(s, i+n); d&l.letter != 0 {
			return i, t.while(s, i+n+m, l.letter)
		}
	}
	if c&l.letter != 0 {
		return i, t.while(s, i+n, l.letter)
	}
	if c&classN != 0 {
		end := i + n
		for k := 1; k != l.digits; k++ {
			d, m := t.at(s, end)
			if d&classN == 0 {
				break
			}
			end += m
		}
		return i, end
	}
	stop := classSpace | classN | l.letter
	j := i
	if s[j] == ' ' {
		c, n = t.at(s, j+1)
		j++
	}
	if n > 0 && c&stop == 0 {
		end := t.until(s, j+n, stop)
		for l.lineEnds && end < len(s) && isLineEnd(s[end]) {
			end++
		}
		return i, end
	}
	if end := lineEnds(t, s, i); end > i {
		return i, end
	}
	return i, spaces(t, s, i)
}
