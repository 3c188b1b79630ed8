package bpe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// TestClasses compares the table with itself, range by range, and with package
// unicode on the characters that have not changed since Unicode 15.
func TestClasses(t *testing.T) {
	table := classes()
	run := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		for run+1 < len(classRanges) && classRanges[run+1].first <= r {
			run++
		}
		if got := table.of(r); got != classRanges[run].class {
			t.Fatalf("class of %U is %#x, want %#x", r, got, classRanges[run].class)
		}
	}
	for r := rune(0); r < 0x500; r++ {
		c := table.of(r)
		for _, p := range []struct {
			name string
			mask class
			want bool
		}{
			{"letter", classL, unicode.IsLetter(r)}, {"number", classN, unicode.IsNumber(r)}, {"digit", classNd, unicode.IsDigit(r)},
			{"mark", classM, unicode.IsMark(r)}, {"upper", classLu, unicode.Is(unicode.Lu, r)}, {"lower", classLl, unicode.Is(unicode.Ll, r)},
			{"punctuation", classP, unicode.IsPunct(r)}, {"symbol", classS, unicode.IsSymbol(r)}, {"space", classSpace, unicode.IsSpace(r)},
		} {
			if got := c&p.mask != 0; got != p.want {
				t.Errorf("%U: %s %v, want %v", r, p.name, got, p.want)
			}
		}
	}
}

// TestClassVersions: the classes are the reference library's, each of its own
// version of Unicode, whatever Go knows.
func TestClassVersions(t *testing.T) {
	table := classes()
	for r, want := range map[rune]class{
		0x105C9: classLo,             // TODHRI, Unicode 16
		0x10D4A: classLo,             // GARAY, Unicode 16
		0x1C89:  classLu,             // CYRILLIC CAPITAL TJE, Unicode 16
		0x11DE0: classNumeric,        // Unicode 17: a digit for Digits, nothing for \p{N}
		0x2E52:  classP,              // Unicode 14: punctuation for \p{P}, not for Punctuation
		0x180E:  0,                   // MONGOLIAN VOWEL SEPARATOR: no space since Unicode 6.3
		0x85:    classSpace,          // NEXT LINE
		'+':     classS | classPunct, // a symbol that Punctuation cuts
		'_':     classP | classPunct | classWord,
		0x378:   0, // unassigned
	} {
		const mask = classL | classN | classP | classS | classSpace | classNumeric | classPunct
		if got := table.of(r) & mask; got != want&mask {
			t.Errorf("class of %U is %#x, want %#x", r, got, want&mask)
		}
	}
}

func TestLowercase(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc é": "abc é", "ABC ÀÉ": "abc àé", "ΣΑΣ": "σασ", "İ": "i\u0307", "ẞ": "ß", "ǅ": "ǆ", "Ა": "ა", "Ⅷ": "ⅷ", "K": "k",
		"Ᲊ": "ᲊ", "𐐀": "𐐨",
	} {
		if got := lowercase(in); got != want {
			t.Errorf("lowercase(%q) = %q, want %q", in, got, want)
		}
	}
	for r := rune(0); r < 0x500; r++ {
		if want := unicode.ToLower(r); r != 0x130 && lowerRune(r) != want {
			t.Errorf("lowerRune(%U) = %U, want %U", r, lowerRune(r), want)
		}
	}
}

// TestNormalLong compares the algorithm for long runs of marks with x/text, on
// text that has none, where both must agree.
func TestNormalLong(t *testing.T) {
	var text strings.Builder
	for r := rune(0x20); r < 0x30000; r++ {
		if 0xD800 <= r && r <= 0xDFFF || isLater(r, norm.NFKD.PropertiesString(string(r))) {
			continue
		}
		text.WriteRune(r)
		if r%3 == 0 {
			text.WriteString("\u0323\u0307")
		}
		if r%7 == 0 {
			text.WriteString("x")
		}
	}
	for _, f := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
		got := string(appendNormalLong(nil, f, text.String()))
		if want := f.String(text.String()); strings.Contains(want, "\u034F\u034F") || strings.ReplaceAll(got, "\u034F", "") != strings.ReplaceAll(want, "\u034F", "") {
			t.Errorf("form %d differs", f)
		}
	}
}

// TestManyMarks: x/text would break the run up after 30 marks.
func TestManyMarks(t *testing.T) {
	const n = 100_000
	text := "a" + strings.Repeat("\u0307\u0323", n)
	want := "a" + strings.Repeat("\u0323", n) + strings.Repeat("\u0307", n)
	if got := normalForm(norm.NFD)(text); got != want {
		t.Errorf("NFD: %d bytes", len(got))
	}
	want = "ạ" + strings.Repeat("\u0323", n-1) + strings.Repeat("\u0307", n)
	if got := normalForm(norm.NFC)(text); got != want {
		t.Errorf("NFC: %d bytes", len(got))
	}
}

// TestValidUTF8 uses the examples of the Unicode Standard, tables 3-8 to 3-11.
func TestValidUTF8(t *testing.T) {
	const r = replacement
	for in, want := range map[string]string{
		"":                                     "",
		"aé中😀":                                 "aé中😀",
		"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41": r + r + r + r + r + r + r + r + "A",
		"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41": r + r + r + r + r + r + r + r + "A",
		"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42": r + r + r + r + r + "A" + r + r + "B",
		"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41": r + r + r + r + "A",
		"\xE4\xB8":                             r,
		"\xF0\x9F\x98":                         r,
		"\xF0\x9F\x98a":                        r + "a",
		"\x80":                                 r,
	} {
		if got := validUTF8(in); got != want {
			t.Errorf("validUTF8(%+q) = %+q, want %+q", in, got, want)
		}
	}
	for in, want := range map[string]int{
		"": 0, "a": 0, "é": 0, "\xC3": 1, "\xE4": 1, "\xE4\xB8": 2, "\xF0\x9F\x98": 3, "\xF0\x9F\x98\x80": 0, "\xC0": 0, "\xFF": 0,
		"\xE0\x80": 0, "\xED\xA0": 0, "\xF0\x80": 0, "\xF4\x90": 0, "\xF5\x80": 0, "\x80\x80\x80": 0, "\x80": 0, "a\xF0\x9F": 2, "\xE4\xB8\xC3": 1,
	} {
		if got := unfinished([]byte(in)); got != want {
			t.Errorf("unfinished(%+q) = %d, want %d", in, got, want)
		}
	}
}

// TestInvalidText: bytes that are not UTF-8 encode as U+FFFD.
func TestInvalidText(t *testing.T) {
	tok := tokenizer(t, "gpt-2")
	equalIDs(t, "invalid", tok.Encode("a\xE4\xB8b\xFF", nil), tok.Encode("a\uFFFDb\uFFFD", nil))
}
