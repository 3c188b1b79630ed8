package bpe

import (
	"sync"
	"unicode/utf8"
)

// class is the set of character properties that tokenizers ask about, a bit for
// each. They come from that library's own tables (see unicode_tables.go), not
// from package unicode: its regular expressions follow Unicode 16, its digits
// Unicode 17 and its punctuation Unicode 8, whatever the Go release knows.
type class uint16

const (
	classLu      class = 1 << iota // upper-case letter
	classLl                        // lower-case letter
	classLt                        // title-case letter
	classLm                        // modifier letter
	classLo                        // other letter
	classM                         // mark, of any kind
	classNd                        // decimal digit
	classNo                        // any other number
	classP                         // punctuation
	classS                         // symbol
	classSpace                     // white space
	classNumeric                   // what Digits cuts
	classPunct                     // what Punctuation cuts
	classWord                      // what SingleWord counts as part of a word

	classL = classLu | classLl | classLt | classLm | classLo
	classN = classNd | classNo
)

// classRange is a run of code points of one class, up to the next run's first.
type classRange struct {
	first rune
	class class
}

const (
	blockBits = 7
	blockSize = 1 << blockBits
)

// classTable maps code points to classes in two steps: equal blocks are stored once.
type classTable struct {
	index  [utf8.MaxRune>>blockBits + 1]uint16
	blocks []class
}

// classes returns the table. It is built when first needed, within a millisecond.
var classes = sync.OnceValue(func() *classTable {
	t := new(classTable)
	uniform := map[class]uint16{}
	run := 0
	for b := range t.index {
		first := rune(b) << blockBits
		for run+1 < len(classRanges) && classRanges[run+1].first <= first {
			run++
		}
		number := uint16(len(t.blocks) / blockSize)
		if run+1 == len(classRanges) || classRanges[run+1].first >= first+blockSize {
			c := classRanges[run].class
			if known, ok := uniform[c]; ok {
				t.index[b] = known
				continue
			}
			uniform[c] = number
		}
		t.index[b] = number
		at := run
		for r := first; r < first+blockSize; r++ {
			for at+1 < len(classRanges) && classRanges[at+1].first <= r {
				at++
			}
			t.blocks = append(t.blocks, classRanges[at].class)
		}
	}
	return t
})

func (t *classTable) of(r rune) class {
	return t.blocks[int(t.index[r>>blockBits])<<blockBits|int(r&(blockSize-1))]
}

// at returns the class and length of the character at s[i:]; 0, 0 at the end.
// s must be valid UTF-8.
func (t *classTable) at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return t.blocks[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return t.of(r), n
}

// before returns the class of the character that ends at s[:i].
func (t *classTable) before(s string, i int) class {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return t.of(r)
}

// while returns the end of the run of characters from i that have a property of want.
func (t *classTable) while(s string, i int, want class) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if t.blocks[c]&want == 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if t.of(r)&want == 0 {
			return i
		}
		i += n
	}
	return i
}

// until returns the end of the run of characters from i that have no property of stop.
func (t *classTable) until(s string, i int, stop class) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if t.blocks[c]&stop != 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if t.of(r)&stop != 0 {
			return i
		}
		i += n
	}
	return i
}
