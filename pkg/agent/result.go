package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxHead bounds the line before a result's text, in bytes.
const maxHead = 512

// show returns a result as the model is shown it. This is the one place where
// results are cut.
func (r *run) show(ctx context.Context, result Result) (string, error) {
	limit := r.agent.opts.ResultTokens
	// A token is rarely longer than this, so nobody looks at the rest.
	text := replaceInvalid(clip(result.Text, 64<<10+64*limit))
	shown := r.caller.Cut(text, limit)
	if !strings.HasPrefix(text, shown) {
		return "", fmt.Errorf("%w: what was cut is not the beginning of the text", ErrOptions)
	}
	n := originalLen(result.Text, len(shown))
	if result.Head == nil {
		if n < len(result.Text) {
			return fmt.Sprintf("%s\n[cut: %d of %d bytes shown]", shown, n, len(result.Text)), nil
		}
		return shown, nil
	}
	head, err := guard(ctx, r.agent.opts.CallTimeout, func(context.Context) (string, error) { return result.Head(n), nil })
	if err != nil {
		return "", err
	}
	head, _, _ = strings.Cut(clip(head, maxHead), "\n")
	head = replaceInvalid(head)
	if shown == "" {
		return head, nil
	}
	return head + "\n" + shown, nil
}

// replaceInvalid replaces each byte that is not UTF-8 by U+FFFD.
func replaceInvalid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// originalLen returns how many bytes of a text became the first n bytes of
// what replaceInvalid made of it.
func originalLen(text string, n int) int {
	i := 0
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		width := utf8.RuneLen(r) // that of U+FFFD for an invalid byte
		if width > n {
			break
		}
		n -= width
		i += size
	}
	return i
}

// failure returns the text that tells the model what was wrong.
func failure(err error) string {
	text := err.Error()
	for _, sentinel := range []error{ErrArguments, ErrPanic, ErrTimeout} {
		// "agent: " tells the model nothing.
		if errors.Is(err, sentinel) {
			text = strings.Replace(text, "agent: ", "", 1)
		}
	}
	return "error: " + text
}

// clip cuts a text to at most n bytes at a rune border.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
