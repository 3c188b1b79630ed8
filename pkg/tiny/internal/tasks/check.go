package tasks

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent/tools"
)

var numbers = regexp.MustCompile(`-?\d+(\.\d+)?`)

// saysNumber reports whether n is a number in the answer.
func saysNumber(answer string, n int) bool {
	if n == 0 && regexp.MustCompile(`(?i)\b(none|empty|no (entries|files))\b`).MatchString(answer) {
		return true
	}
	return slices.Contains(numbers.FindAllString(answer, -1), strconv.Itoa(n))
}

// saysSize reports whether a written text is a size.
func saysSize(text string, n int) bool {
	fields := strings.Fields(text)
	return len(fields) == 1 && fields[0] == strconv.Itoa(n) ||
		len(fields) == 2 && fields[0] == strconv.Itoa(n) && strings.HasPrefix(fields[1], "byte")
}

// answers reports whether an answer is what was wanted of a file.
func answers(w Want, answer, content string) bool {
	switch w {
	case Size:
		return saysNumber(answer, len(content))
	case FirstLine:
		return strings.TrimSpace(answer) == strings.TrimSpace(head(content))
	}
	return strings.TrimSpace(answer) == strings.TrimSpace(content)
}

// saysNames reports whether an answer names these entries and no others.
func saysNames(answer string, names []string) bool {
	if len(names) == 0 {
		return saysNumber(answer, 0)
	}
	got := strings.FieldsFunc(answer, func(r rune) bool { return r == '\n' || r == ',' })
	for i := range got {
		got[i] = strings.TrimSuffix(strings.TrimSpace(got[i]), "/")
	}
	want := slices.Clone(names)
	for i := range want {
		want[i] = strings.TrimSuffix(want[i], "/")
	}
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

// saysValue reports whether an answer has the value of an expression.
func saysValue(answer, expression string) bool {
	args, err := json.Marshal(map[string]string{"expression": expression})
	if err != nil {
		return false
	}
	result, err := tools.Compute().Call(context.Background(), args)
	if err != nil {
		return strings.Contains(answer, "error") || strings.Contains(answer, err.Error())
	}
	value, more, _ := strings.Cut(result.Text, " ")
	got := numbers.FindAllString(answer, -1)
	if more == "" {
		return slices.Contains(got, value)
	}
	digits := min(len(value), 7)
	if i := strings.IndexByte(value, '.'); i >= digits {
		digits = i + 2
	}
	return slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, value[:digits]) })
}
