package tasks

import (
	"fmt"
	"strconv"
	"strings"
)

// number returns a number as it stands in texts.
func (m maker) number() string {
	x := m.Float64()
	switch {
	case x < 0.05:
		return m.decimal()
	case x < 0.08:
		return "1" + m.digits(m.between(5, 14))
	}
	return m.whole()
}

// whole returns a whole number, more often a short one.
func (m maker) whole() string {
	limit := 1
	for range pick(m.random, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6) {
		limit *= 10
	}
	return strconv.Itoa(m.IntN(limit))
}

func (m maker) decimal() string {
	return strconv.Itoa(m.IntN(pick(m.random, 10, 100, 1000))) + "." + pick(m.random, "5", "25", "75", "1", "2", m.digits(1)+"5", m.digits(2)+"1")
}

// inText returns a word as it may stand in a sentence.
func (m maker) inText() string {
	x := m.Float64()
	switch {
	case x < 0.28:
		return pick(m.random, little...)
	case x < 0.34:
		return m.number()
	case x < 0.39:
		return title(m.word())
	case x < 0.40:
		return strings.ToUpper(m.word())
	case x < 0.40+m.unicode:
		return pick(m.random, "café", "über", "naïve", "señor", "größe", "façade", "€", "°", "–", "日本", "привет", "ñandú", "smörgås", "≥", "😀", "été", "Zürich", "Škoda", "œuvre", "½")
	}
	return m.word()
}

// sentence returns lo to hi words.
func (m maker) sentence(lo, hi int) string {
	n := m.between(lo, hi)
	list := make([]string, n)
	for i := range list {
		list[i] = m.inText()
	}
	if n > 2 && m.chance(0.08) { // what was said before is said again
		i := m.IntN(n - 1)
		list = append(list, list[i], list[i+1])
		if m.chance(0.5) {
			list = append(list, m.inText())
		}
	}
	s := strings.Join(list, " ")
	if len(list) > 3 && m.chance(0.15) {
		s = strings.Replace(s, " ", pick(m.random, ", ", "; ", " - ", ": ", " & ", " / "), 1+m.IntN(2))
	}
	if m.chance(0.3) {
		s = title(s)
	}
	return s
}

// line returns one line of a file.
func (m maker) line(hi int) string {
	x := m.Float64()
	switch {
	case x < 0.62:
		s := m.sentence(1, hi)
		if m.chance(0.3) {
			s += pick(m.random, ".", ".", ".", "!", "?", "...", ":")
		}
		return s
	case x < 0.71:
		return m.word() + pick(m.random, "=", ": ", " = ", ":", " -> ", " ") + pick(m.random, m.number(), m.word(), m.sentence(1, 3))
	case x < 0.76:
		n := m.between(2, 6)
		list := make([]string, n)
		for i := range list {
			list[i] = pick(m.random, m.number(), m.word())
		}
		return strings.Join(list, pick(m.random, ",", ",", ", ", ";", " ", "\t", " | "))
	case x < 0.80:
		return pick(m.random, "# ", "- ", "* ", "// ", "## ", "> ", "1. ", "[ ] ", "    ", "  ") + m.sentence(1, 5)
	case x < 0.85:
		return m.number()
	case x < 0.87:
		return m.filePath()
	case x < 0.90:
		return fmt.Sprintf(pick(m.random, `"%s": "%s"`, `{"%s":"%s"}`, `'%s' and "%s"`, `%s("%s")`, `<%s>%s</a>`, `["%s", "%s"]`, `%s 'the %s'`), m.word(), m.word())
	case x < 0.94:
		return fmt.Sprintf(pick(m.random, "%s := %s(x)", "func %s(%s int) {", "if %s == %s {", "return %s + %s;", "import %s.%s", "%s[%s] += 1", "var %s *%s", "for %s in %s:", "let %s = %s;", `print("%s %s")`, "%s@%s.com", "https://%s.org/%s", "$%s = %s", `C:\%s\%s`, "%s && %s || true"), m.word(), m.word())
	case x < 0.97:
		return m.hash()
	}
	return strings.TrimSuffix(strings.Repeat(m.word()+pick(m.random, " ", ","), m.between(2, 4)), " ")
}

func (m maker) hash() string {
	b := make([]byte, m.between(4, 16))
	for i := range b {
		b[i] = "0123456789abcdef"[m.IntN(16)]
	}
	return pick(m.random, "", "id-", "key=", "v", "#", "0x") + string(b)
}

// content returns the content of a file of up to most lines.
func (m maker) content(most, hi int) string {
	n := min(most, pick(m.random, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5))
	list := make([]string, n)
	for i := range list {
		if i > 0 && i < n-1 && m.chance(0.05) {
			continue // an empty line
		}
		list[i] = m.line(hi)
		if i > 1 && m.chance(0.05) {
			list[i] = list[i-1]
		}
	}
	s := strings.Join(list, "\n")
	if m.chance(0.5) {
		s += "\n"
	}
	return s
}

// large returns a content that no result has room for, or hardly.
func (m maker) large() string {
	var b strings.Builder
	for n := m.between(700, 6000); b.Len() < n; {
		b.WriteString(m.line(8))
		b.WriteString("\n")
	}
	return b.String()
}

// plainText returns a line without quotes and without a mark at its end, as a
// user gives it to be written.
func (m maker) plainText() string {
	for {
		x := m.Float64()
		var s string
		switch {
		case x < 0.70:
			s = m.sentence(1, pick(m.random, 3, 5, 8))
		case x < 0.80:
			s = m.number()
		default:
			s = m.line(6)
		}
		s = strings.TrimSpace(s)
		s = strings.TrimRight(s, ".!?,:;- ")
		if s != "" && !strings.ContainsAny(s, "\"'`\\") {
			return s
		}
	}
}
