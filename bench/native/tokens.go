package native

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// reference holds the greedy tokens of the checkpoint in float32, and what they
// were computed with.
var reference = parseReference()

//go:embed reference.json
var referenceJSON []byte

type referenceTokens struct {
	What        string          `json:"what"`
	End         int             `json:"end"` // the end-of-sequence token
	Plain, Chat referencePrompt // lower-case keys match too
}

type referencePrompt struct {
	Text   string `json:"text"`
	IDs    []int  `json:"ids"`
	Tokens []int  `json:"tokens"` // the end-of-sequence token is one like others
	Answer string `json:"answer"` // the text before the first of them
}

func parseReference() referenceTokens {
	var r referenceTokens
	if err := json.Unmarshal(referenceJSON, &r); err != nil {
		panic(err) // a test reads it
	}
	return r
}

// keepTokens is how many tokens after each prompt a form has to have in common
// with the reference to "keep the tokens".
const keepTokens = 32

// agreement says how far an engine's tokens are the reference's.
type agreement struct {
	Known bool // tokens or text of both prompts are there
	Keeps bool // after both
	Plain bool // after the plain prompt
	First bool // the first after it: the answer itself
	Words string
}

// agree compares the tokens of a config's samples with the reference's.
func agree(samples []sample) agreement {
	tokens, texts := map[string][]int{}, map[string]string{}
	for _, s := range samples {
		for k, v := range s.Tokens {
			tokens[k] = v
		}
		for k, v := range s.Texts {
			texts[k] = v
		}
	}
	a := agreement{Known: true, Keeps: true}
	var words []string
	for _, p := range []struct {
		key, name string
		want      referencePrompt
	}{{"first", "plain", reference.Plain}, {"chat", "chat", reference.Chat}} {
		var keeps, first bool
		var how string
		if ids, ok := tokens[p.key]; ok {
			keeps, how = compareIDs(ids, p.want.Tokens)
			first = len(ids) > 0 && ids[0] == p.want.Tokens[0]
		} else if text, ok := texts[p.key]; ok {
			keeps, how = compareText(text, p.want.Answer)
			// A word and what ends it.
			first = strings.HasPrefix(text, p.want.Answer[:strings.IndexByte(p.want.Answer, '.')+1])
		} else {
			a.Known = false
			continue
		}
		a.Keeps = a.Keeps && keeps
		if p.key == "first" {
			a.Plain, a.First = keeps, first
		}
		words = append(words, p.name+": "+how)
	}
	a.Keeps = a.Keeps && a.Known
	a.Words = strings.Join(words, "; ")
	return a
}

// compareIDs says where tokens differ. Engines that cannot be told to go on
// after the end of a text suppress its token instead: from there on theirs is
// another text, and what stands before counts.
func compareIDs(got, want []int) (keeps bool, how string) {
	n := min(len(got), len(want))
	for i := range n {
		if got[i] == want[i] {
			continue
		}
		if want[i] == reference.End {
			return true, fmt.Sprintf("%d equal, to the end of the text, which it suppresses", i)
		}
		return i >= keepTokens, fmt.Sprintf("%d equal, then %d instead of %d", i, got[i], want[i])
	}
	return n >= min(keepTokens, len(want)), fmt.Sprintf("all %d equal", n)
}

// compareText compares the text of engines that do not tell ids, up to the end
// of the reference's.
func compareText(got, want string) (keeps bool, how string) {
	if strings.HasPrefix(got, want) {
		return true, "text equal, to its end"
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	return false, fmt.Sprintf("text differs after %q: %q", want[:i], got[i:min(len(got), i+16)])
}
