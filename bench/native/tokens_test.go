package native

import (
	"slices"
	"strings"
	"testing"
)

func TestReference(t *testing.T) {
	for name, p := range map[string]referencePrompt{"plain": reference.Plain, "chat": reference.Chat} {
		if len(p.IDs) == 0 || p.Text == "" || p.Answer == "" || len(p.Tokens) < keepTokens || !slices.Contains(p.Tokens, reference.End) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if len(reference.Plain.IDs) != 5 || len(reference.Plain.Tokens) != firstTokens || len(reference.Chat.Tokens) != chatTokens {
		t.Error("lengths are not those of the steps")
	}
}

func TestCompareIDs(t *testing.T) {
	want := reference.Plain.Tokens
	end := slices.Index(want, reference.End)
	change := func(at int) []int {
		c := slices.Clone(want)
		c[at] += 7
		return c
	}
	for _, c := range []struct {
		name  string
		got   []int
		keeps bool
		words string
	}{
		{"same", want, true, "all 128 equal"},
		{"too few to say", want[:20], false, "all 20 equal"},
		{"first", change(0), false, "0 equal, then 7049 instead of 7042"},
		{"before the limit", change(keepTokens - 1), false, "31 equal"},
		{"after it", change(keepTokens), true, "32 equal"},
		{"suppressed end", change(end), true, "29 equal, to the end of the text"},
	} {
		if keeps, words := compareIDs(c.got, want); keeps != c.keeps || !strings.HasPrefix(words, c.words) {
			t.Errorf("%s: %v, %q", c.name, keeps, words)
		}
	}
}

func TestAgree(t *testing.T) {
	plain, chat := reference.Plain, reference.Chat
	ids := func(p, c []int) []sample {
		return []sample{{Tokens: map[string][]int{"first": p}}, {Tokens: map[string][]int{"chat": c}}}
	}
	if a := agree(ids(plain.Tokens, chat.Tokens)); !a.Known || !a.Keeps || !a.Plain {
		t.Errorf("%+v", a)
	}
	if a := agree(ids(plain.Tokens, plain.Tokens)); a.Keeps || !a.Plain || keepsMark(a) != "plain only" {
		t.Errorf("%+v, want the plain prompt's alone", a)
	}
	if a := agree(ids(chat.Tokens, chat.Tokens)); a.Keeps || a.Plain || keepsMark(a) != "lost" {
		t.Errorf("%+v", a)
	}
	if a := agree(ids(plain.Tokens, nil)[:1]); a.Known || a.Keeps || keepsMark(a) != "unknown" {
		t.Errorf("%+v without the conversation", a)
	}
	texts := []sample{{Texts: map[string]string{"first": plain.Answer + " more", "chat": "The capital of Spain"}}}
	if a := agree([]sample{{Texts: map[string]string{"first": " Paris. And", "chat": ""}}}); a.Plain || !a.First || keepsMark(a) != "the first" {
		t.Errorf("%+v, want the answer kept", a)
	}
	if a := agree(texts); a.Keeps || !a.Plain || !strings.Contains(a.Words, `differs after "The capital of ": "Spain"`) {
		t.Errorf("%+v", a)
	}
}
