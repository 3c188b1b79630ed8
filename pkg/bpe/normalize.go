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
func compileNormalizer(n NormalizerConfig, place string) (normalizer, error) {
	c := normalizerCompiler{growth: 1}
	if err := c.add(n, place, 0); err != nil {
		return nil, err
	}
	switch len(c.steps) {
	case 0:
		return nil, nil
	case 1:
		return c.steps[0], nil
	}
	return func(s string) string {
		for _, f := range c.steps {
			s = f(s)
		}
		return s
	}, nil
}

// normalizerCompiler lays a normaliser out in a row.
type normalizerCompiler struct {
	steps  []normalizer
	growth float64
}

func (c *normalizerCompiler) add(n NormalizerConfig, place string, depth int) error {
	if depth > maxDepth {
		return placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
	if n.Type == "Sequence" {
		for i, m := range n.Normalizers {
			if err := c.add(m, fmt.Sprintf("%s.normalizers[%d]", place, i), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	f, growth, err := compileOne(n, place)
	if err != nil || f == nil {
		return err
	}
	c.steps = append(c.steps, f)
	c.growth *= growth
	if len(c.steps) > maxStages || c.growth > maxGrowth {
		return placed(ErrUnsupported, place, "more than %d normalisers, or text that grows by more than %d times", maxStages, maxGrowth)
	}
	return nil
}

// compileOne returns a single normaliser and how much longer it can make a text.
func compileOne(n NormalizerConfig, place string) (normalizer, float64, error) {
	switch n.Type {
	case "":
		return nil, 1, nil
	case "NFC":
		return normalForm(norm.NFC), 3, nil // the factors of UAX #15, for UTF-8
	case "NFD":
		return normalForm(norm.NFD), 3, nil
	case "NFKC":
		return normalForm(norm.NFKC), 11, nil
	case "NFKD":
		return normalForm(norm.NFKD), 11, nil
	case "Lowercase":
		return lowercase, 1.5, nil
	case "ByteLevel":
		return func(s string) string { return string(appendMapped(nil, s)) }, 2, nil
	case "Prepend":
		if len(n.Prepend) > maxGrowth {
			return nil, 0, placed(ErrUnsupported, place+".prepend", "text of %d bytes, at most %d are allowed", len(n.Prepend), maxGrowth)
		}
		return func(s string) string {
			if s == "" {
				return s
			}
			return n.Prepend + s
		}, 1, nil
	case "Strip":
		t := classes()
		return func(s string) string { return strip(t, s, n.StripLeft, n.StripRight) }, 1, nil
	case "Replace":
		scan, err := compilePattern(n.Pattern, place+".pattern")
		if err != nil {
			return nil, 0, err
		}
		growth := max(1, float64(len(n.Content))/float64(max(1, len(n.Pattern.String))))
		return func(s string) string { return replaceAll(scan, s, n.Content) }, growth, nil
	}
	return nil, 0, placed(ErrUnsupported, place+".type", "the normaliser %q", clip(n.Type))
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
	if start, _ := scan.next(s, 0); start == len(s) {
		return s
	}
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
