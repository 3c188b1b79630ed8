package bpe

// o200kScanner matches the family of GPT-4o's expression, in which a change from
// lower to upper case begins a new word:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|…)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|…)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// It matches at every place.
type o200kScanner struct {
	t           *classTable
	contraction bool // words take a contraction behind them
	digits      int  // at most so many digits to a number
}

const (
	classUpper = classLu | classLt | classLm | classLo | classM
	classLower = classLl | classLm | classLo | classM
)

func (o o200kScanner) next(s string, i int) (int, int) {
	if i >= len(s) {
		return len(s), len(s)
	}
	t := o.t
	c, n := t.at(s, i)

	// Each word alternative is tried with one leading character of another kind,
	// then (when a mark was that character) without.
	lead := 0
	if c&(classL|classN) == 0 && !isLineEnd(s[i]) {
		lead = n
	}
	if c&classL != 0 || lead > 0 {
		end := o.lowerWord(s, i+lead)
		if end < 0 && c&classM != 0 {
			end = o.lowerWord(s, i)
		}
		if end < 0 {
			end = o.upperWord(s, i+lead)
		}
		if end < 0 && c&classM != 0 {
			end = o.upperWord(s, i)
		}
		if end >= 0 {
			if o.contraction {
				end = contraction(s, end, true)
			}
			return i, end
		}
	}
	if c&classN != 0 {
		end := i + n
		for k := 1; k != o.digits; k++ {
			d, m := t.at(s, end)
			if d&classN == 0 {
				break
			}
			end += m
		}
		return i, end
	}
	j := i
	if s[j] == ' ' {
		c, n = t.at(s, j+1)
		j++
	}
	if n > 0 && c&(classSpace|classL|classN) == 0 {
		end := t.until(s, j+n, classSpace|classL|classN)
		for end < len(s) && (isLineEnd(s[end]) || s[end] == '/') {
			end++
		}
		return i, end
	}
	if end := lineEnds(t, s, i); end > i {
		return i, end
	}
	return i, spaces(t, s, i)
}

// lowerWord matches [upper]*[lower]+ at i and returns its end, or -1. Caseless
// letters and marks belong to both sets: the first part takes all it can and
// gives back the last one of them when nothing lower follows.
func (o o200kScanner) lowerWord(s string, i int) int {
	mid := o.t.while(s, i, classUpper)
	if end := o.t.while(s, mid, classLower); end > mid {
		return end
	}
	end := -1
	for i < mid {
		c, n := o.t.at(s, i)
		i += n
		if c&classLower != 0 {
			end = i
		}
	}
	return end
}

// upperWord matches [upper]+[lower]* at i and returns its end, or -1.
func (o o200kScanner) upperWord(s string, i int) int {
	mid := o.t.while(s, i, classUpper)
	if mid == i {
		return -1
	}
	return o.t.while(s, mid, classLower)
}
