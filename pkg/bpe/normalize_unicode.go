package bpe

import (
	"slices"
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalForm normalises as tokenizers does, which differs from x/text in two
// ways. It follows Unicode 9: characters that came later take no part, so they
// are copied and the text between them is normalised by itself. And it never
// breaks up long runs of combining marks, where x/text inserts U+034F after 30
// (the Stream-Safe Text Format of UAX #15).
func normalForm(f norm.Form) normalizer {
	return func(s string) string {
		if isASCII(s) || f.IsNormalString(s) {
			// A text that is normal for a later Unicode is normal for an earlier one.
			return s
		}
		return string(appendNormal(make([]byte, 0, len(s)+len(s)/8), f, s))
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxMarks is a number of characters with combining class other than 0 in a row
// whose decompositions stay below the 30 of the Stream-Safe Text Format.
const maxMarks = 8

func appendNormal(out []byte, f norm.Form, s string) []byte {
	start, marks, long := 0, 0, false
	flush := func(end int) {
		if segment := s[start:end]; long {
			out = appendNormalLong(out, f, segment)
		} else {
			out = append(out, f.String(segment)...) // AppendString would look back over start
		}
		marks, long = 0, false
	}
	for i, r := range s {
		if r < 0x300 {
			marks = 0
			continue
		}
		p := norm.NFKD.PropertiesString(s[i:])
		if isLater(r, p) {
			flush(i)
			start = i + utf8.RuneLen(r)
			out = utf8.AppendRune(out, r)
			continue
		}
		if p.LeadCCC() == 0 && p.CCC() == 0 {
			marks = 0
		} else if marks++; marks > maxMarks {
			long = true
		}
	}
	flush(len(s))
	return out
}

// laterComposing are the blocks after Unicode 9 whose characters compose with
// each other: Todhri, Tulu-Tigalari, Dives Akuru, Gurung Khema, Kirat Rai.
var laterComposing = [][2]rune{
	{0x105C0, 0x105FF}, {0x11380, 0x113FF}, {0x11900, 0x1195F}, {0x16100, 0x1613F}, {0x16D40, 0x16D7F},
}

// isLater reports whether a character got its normalisation properties after Unicode 9.
func isLater(r rune, p norm.Properties) bool {
	for _, b := range laterComposing {
		if b[0] <= r && r <= b[1] {
			return true
		}
	}
	if p.CCC() == 0 && p.Decomposition() == nil {
		return false
	}
	k := sort.Search(len(normalizing), func(i int) bool { return normalizing[i][1] >= r })
	return k == len(normalizing) || normalizing[k][0] > r
}

// appendNormalLong normalises by the book (UAX #15, Unicode Standard section
// 3.11): decompose, order the marks, compose. It is for text with long runs of marks.
func appendNormalLong(out []byte, f norm.Form, s string) []byte {
	decompose := norm.NFD
	if f == norm.NFKC || f == norm.NFKD {
		decompose = norm.NFKD
	}
	type char struct {
		r   rune
		ccc uint8
	}
	var chars []char
	for _, r := range s {
		for _, d := range decompose.String(string(r)) {
			chars = append(chars, char{d, norm.NFD.PropertiesString(string(d)).CCC()})
		}
	}
	for i := 0; i < len(chars); i++ {
		j := i
		for j < len(chars) && chars[j].ccc != 0 {
			j++
		}
		slices.SortStableFunc(chars[i:j], func(a, b char) int { return int(a.ccc) - int(b.ccc) })
		i = j
	}
	if f == norm.NFC || f == norm.NFKC {
		starter, previous := -1, uint8(0)
		kept := chars[:0]
		for _, c := range chars {
			// c composes with the last starter unless a character between them has
			// combining class 0 or at least that of c.
			if starter >= 0 && (starter == len(kept)-1 || previous != 0 && previous < c.ccc) {
				if r, ok := compose(kept[starter].r, c.r); ok {
					kept[starter].r = r
					continue
				}
			}
			if c.ccc == 0 {
				starter = len(kept)
			}
			previous = c.ccc
			kept = append(kept, c)
		}
		chars = kept
	}
	for _, c := range chars {
		out = utf8.AppendRune(out, c.r)
	}
	return out
}

// compose returns the primary composite of two characters.
func compose(a, b rune) (rune, bool) {
	s := norm.NFC.String(string(a) + string(b))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s)
}
