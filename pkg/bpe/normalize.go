package bpe

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites text. The text is valid UTF-8 and stays so.
type normalizer func(string) string

// compileNormalizer returns nil for no normaliser.
func compileNormalizer(n NormalizerConfig, place string, depth int) (normalizer, error) {
	if depth > maxDepth {
		return nil, placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
	switch n.Type {
	case "":
		return nil, nil
	case "NFC":
		return normalForm(norm.NFC), nil
	case "NFD":
		return normalForm(norm.NFD), nil
	case "NFKC":
		return normalForm(norm.NFKC), nil
	case "NFKD":
		return normalForm(norm.NFKD), nil
	case "Lowercase":
		return lowercase, nil
	case "ByteLevel":
		return func(s string) string { return string(appendMapped(nil, s)) }, nil
	case "Prepend":
		return func(s string) string {
			if s == "" {
				return s
			}
			return n.Prepend + s
		}, nil
	case "Strip":
		t := classes()
		return func(s string) string { return strip(t, s, n.StripLeft, n.StripRight) }, nil
	case "Replace":
		if n.Pattern.String != "" && n.Pattern.Regex == "" {
			return func(s string) string { return strings.ReplaceAll(s, n.Pattern.String, n.Content) }, nil
		}
		scan, err := compilePattern(n.Pattern, place+".pattern")
		if err != nil {
			return nil, err
		}
		return func(s string) string { return replaceAll(scan, s, n.Content) }, nil
	case "Sequence":
		var all []normalizer
		for i, m := range n.Normalizers {
			f, err := compileNormalizer(m, fmt.Sprintf("%s.normalizers[%d]", place, i), depth+1)
			if err != nil {
				return nil, err
			}
			if f != nil {
				all = append(all, f)
			}
		}
		if len(all) == 0 {
			return nil, nil
		}
		return func(s string) string {
			for _, f := range all {
				s = f(s)
			}
			return s
		}, nil
	}
	return nil, placed(ErrUnsupported, place+".type", "the normaliser %q", n.Type)
}

func strip(t *classTable, s string, left, right bool) string {
	if left {
		s = s[t.while(s, 0, classSpace):]
	}
	for right && s != "" && t.before(s, len(s))&classSpace != 0 {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

func replaceAll(scan scanner, s, content string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		start, end := scan.next(s, i)
		out.WriteString(s[i:start])
		if end > start {
			out.WriteString(content)
		}
		i = end
	}
	return out.String()
}

// lowerRange is a run of upper-case letters, every stride-th code point of
// first to last, whose lower case is delta away.
type lowerRange struct {
	first, last   rune
	delta, stride rune
}

// lowercase maps each character by itself, as Rust's char::to_lowercase does.
func lowercase(s string) string {
	changed := false
	for i := 0; i < len(s) && !changed; i++ {
		changed = s[i] >= utf8.RuneSelf || 'A' <= s[i] && s[i] <= 'Z'
	}
	if !changed {
		return s
	}
	out := make([]byte, 0, len(s)+8)
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = append(out, lowerASCII(byte(r)))
		case r == 0x130: // İ
			out = append(out, "i\u0307"...)
		default:
			out = utf8.AppendRune(out, lowerRune(r))
		}
	}
	return string(out)
}

func lowerRune(r rune) rune {
	lo, hi := 0, len(lowerRanges)
	for lo < hi {
		mid := (lo + hi) / 2
		if lowerRanges[mid].last < r {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(lowerRanges) {
		if l := lowerRanges[lo]; r >= l.first && (r-l.first)%l.stride == 0 {
			return r + l.delta
		}
	}
	return r
}
