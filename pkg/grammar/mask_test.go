package grammar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// checkMask compares a mask with the automaton, token by token.
func checkMask(t *testing.T, what string, m *Matcher) {
	t.Helper()
	v := m.v
	legal := make([]uint64, v.words())
	legal[0] = ^uint64(0) // what was there is to be cleared
	if err := m.Mask(legal); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for id := range v.size {
		got := legal[id/64]>>(id%64)&1 != 0
		text := v.bytes(int32(id))
		want := len(text) > 0 && !m.finished && m.simulate(text) == len(text)
		if want && m.left(m.next, &m.scratch)+len(text) > m.g.opts.MaxBytes-m.used {
			want = false
		}
		if want && m.tokens >= 0 && m.left(m.next, &m.scratch) > m.tokens-1 {
			want = false
		}
		if len(text) == 0 {
			_, eos := slices.BinarySearch(v.eos, id)
			want = eos && m.complete()
		}
		if got != want {
			t.Fatalf("%s: token %d, %q: legal is %v, want %v; threads %v", what, id, text, got, want, m.threads)
		}
	}
}

// TestMaskIsExact: a token is in the mask if and only if its bytes are legal.
func TestMaskIsExact(t *testing.T) {
	v := smallVocabulary()
	seeds := uint64(400)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		s := &schemaMaker{r: rand.New(rand.NewPCG(seed, 2))}
		schema := s.document()
		g, err := Compile([]byte(schema), &Options{AnyOrder: seed%3 == 1, Spaced: seed%5 == 1, Blanks: int(seed % 2)})
		if err != nil {
			continue
		}
		for range 3 {
			m := g.NewMatcher(v)
			var text []byte
			for range 60 {
				checkMask(t, fmt.Sprintf("seed %d: %s after %q", seed, schema, text), m)
				legal := make([]uint64, v.words())
				if err := m.Mask(legal); err != nil {
					t.Fatal(err)
				}
				ids := legalTokens(legal)
				id := ids[s.r.IntN(len(ids))]
				if err := m.Accept(id); err != nil {
					t.Fatal(err)
				}
				text = append(text, v.bytes(int32(id))...)
				if m.finished {
					break
				}
			}
		}
	}
}

// TestMaskOfRealVocabulary is TestMaskIsExact for 49,152 tokens and real
// schemas.
func TestMaskOfRealVocabulary(t *testing.T) {
	v := realVocabulary(t)
	tools := hundredTools(t)
	r := rand.New(rand.NewPCG(3, 4))
	for n, tool := range tools {
		if n%10 != 0 {
			continue
		}
		g, err := CompileTools([]Tool{tool}, nil)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		states(t, g, v, r, 2, 60, func(m *Matcher) {
			if count++; count%6 == 0 && count < 24 {
				checkMask(t, tool.Name, m)
			}
		})
	}
}

// TestWalksOfTools: random walks through random sets of the hundred tools, by
// both vocabularies, end in calls that parse, name a declared tool, and are
// valid.
func TestWalksOfTools(t *testing.T) {
	tools := hundredTools(t)
	walks := []int{2000, 200}
	vocabularies := []*Vocabulary{smallVocabulary()}
	if testing.Short() {
		walks[0] = 200
	} else {
		vocabularies = append(vocabularies, realVocabulary(t))
	}
	if os.Getenv("LEVERET_LONG") == "1" {
		walks = []int{10000, 10000}
	}
	r := rand.New(rand.NewPCG(5, 6))
	validators := map[string]*jsonschema.Schema{}
	for _, tool := range tools {
		validators[tool.Name] = validator(t, string(tool.Schema))
	}
	for i, v := range vocabularies {
		n := 0
		for n < walks[i] {
			set := make([]Tool, 1+r.IntN(5))
			for i, k := range r.Perm(len(tools))[:len(set)] {
				set[i] = tools[k]
			}
			g, err := CompileTools(set, &Options{AnyOrder: r.IntN(3) == 0, Closed: r.IntN(3) == 0, Spaced: r.IntN(3) == 0, MaxBytes: 3000})
			if err != nil {
				t.Fatal(err)
			}
			for range 25 {
				n++
				text := walk(t, "tools", g, v, r)
				x, err := decodeStrict(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				call := x.(map[string]any)
				k := slices.IndexFunc(set, func(t Tool) bool { return t.Name == call["name"] })
				if k < 0 || len(call) != 2 {
					t.Fatalf("%s: not a call of a declared tool", text)
				}
				if err := validators[set[k].Name].Validate(call["arguments"]); err != nil {
					t.Fatalf("%s: %#v", text, err)
				}
			}
		}
		t.Logf("%d walks with %d tokens", n, v.Size())
	}
}

// TestAdversary: whoever always takes the worst of the legal tokens comes to an
// end within MaxBytes, and to a valid one.
func TestAdversary(t *testing.T) {
	v := smallVocabulary()
	legal := make([]uint64, v.words())
	worsts := map[string]func(id int, text []byte) int{
		"opens":   func(id int, text []byte) int { return -closing(v, id) },
		"letters": func(id int, text []byte) int { return strings.Count(string(text), "a") - 10*closing(v, id) },
		"digits":  func(id int, text []byte) int { return strings.Count(string(text), "0") },
		"escapes": func(id int, text []byte) int { return strings.Count(string(text), `\`) - 5*closing(v, id) },
		"first":   func(id int, text []byte) int { return -id },
		"last":    func(id int, text []byte) int { return id },
		"cut":     func(id int, text []byte) int { return int(text[len(text)-1]) },
	}
	schemas := []string{
		`true`, `{"type":"string"}`, `{"type":"number"}`, `{"type":"array"}`, `{"type":"object"}`, `{"type":"object","minProperties":7}`,
		`{"type":"array","items":{"$ref":"#"}}`, `{"type":"string","pattern":"b$"}`, `{"type":"string","minLength":50}`,
		`{"type":"object","additionalProperties":{"$ref":"#"}}`, `{"type":"string","pattern":"^(日本)+$"}`,
		`{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"],"additionalProperties":false}`,
		`{"type":"object","propertyNames":{"pattern":"^[ab]{1,2}$"}}`, `{"type":"object","patternProperties":{"^[ab]$":true},"additionalProperties":false,"minProperties":2}`,
		`{"type":"object","patternProperties":{"^k_[a-z]+$":{"type":"string"}},"additionalProperties":false}`,
		`{"type":"array","items":{"type":"string","format":"email"},"minItems":3}`,
		`{"anyOf":[{"type":"array","items":{"type":"array","items":{"$ref":"#"}}},{"type":"object","properties":{"deep":{"$ref":"#"}},"required":["deep"]},{"type":"null"}]}`,
	}
	for _, schema := range schemas {
		for name, worst := range worsts {
			for _, order := range []bool{false, true} {
				g := compileT(t, schema, &Options{MaxBytes: 700, AnyOrder: order})
				m := g.NewMatcher(v)
				var text []byte
				for !m.Done() {
					if err := m.Mask(legal); err != nil {
						t.Fatalf("%s, %s: after %q: %v", schema, name, text, err)
					}
					ids := legalTokens(legal)
					if slices.Contains(v.eos, ids[0]) {
						break
					}
					ids = slices.DeleteFunc(ids, func(id int) bool { return slices.Contains(v.eos, id) })
					id := slices.MaxFunc(ids, func(a, b int) int { return worst(a, v.bytes(int32(a))) - worst(b, v.bytes(int32(b))) })
					if err := m.Accept(id); err != nil {
						t.Fatal(err)
					}
					text = append(text, v.bytes(int32(id))...)
				}
				if len(text) > 700 {
					t.Fatalf("%s, %s: %d bytes", schema, name, len(text))
				}
				x, err := decodeStrict(text)
				if err != nil {
					t.Fatalf("%s, %s: %q: %v", schema, name, text, err)
				}
				if err := validator(t, schema).Validate(x); err != nil {
					t.Fatalf("%s, %s: %s: %#v", schema, name, text, err)
				}
			}
		}
	}
}

// TestAdversaryOfTools: sets of tools, both vocabularies, and a bound on tokens:
// the worst tokens make a call within it.
func TestAdversaryOfTools(t *testing.T) {
	tools := hundredTools(t)
	vocabularies := []*Vocabulary{smallVocabulary()}
	if !testing.Short() {
		vocabularies = append(vocabularies, realVocabulary(t))
	}
	const tokens = 400
	r := rand.New(rand.NewPCG(7, 8))
	for _, v := range vocabularies {
		legal := make([]uint64, v.words())
		for name, worst := range map[string]func(id int, text string) int{
			"opens":   func(id int, text string) int { return -closing(v, id) },
			"letters": func(id int, text string) int { return strings.Count(text, "a") - 10*closing(v, id) },
			"escapes": func(id int, text string) int { return strings.Count(text, `\`) - 5*closing(v, id) },
			"long":    func(id int, text string) int { return len(text) - 20*closing(v, id) },
			"short":   func(id int, text string) int { return -len(text) - 20*closing(v, id) },
		} {
			score := make([]int, v.size)
			for id := range score {
				score[id] = worst(id, string(v.bytes(int32(id))))
			}
			for range 6 {
				set := make([]Tool, 5)
				for i, k := range r.Perm(len(tools))[:len(set)] {
					set[i] = tools[k]
				}
				g, err := CompileTools(set, &Options{AnyOrder: r.IntN(2) == 0, Spaced: r.IntN(2) == 0})
				if err != nil {
					t.Fatal(err)
				}
				m := g.NewMatcher(v)
				limited := false
				var text []byte
				for n := 0; !m.Done(); n++ {
					if n > tokens {
						t.Fatalf("%s: %d tokens: %s", name, n, text)
					}
					if !limited {
						limited = m.LimitTokens(tokens-n) == nil
					}
					if err := m.Mask(legal); err != nil {
						t.Fatalf("%s: after %q: %v", name, text, err)
					}
					ids := legalTokens(legal)
					id := slices.MaxFunc(ids, func(a, b int) int { return score[a] - score[b] })
					if err := m.Accept(id); err != nil {
						t.Fatal(err)
					}
					text = append(text, v.bytes(int32(id))...)
				}
				x, err := decodeStrict(text)
				if err != nil {
					t.Fatalf("%s: %q: %v", name, text, err)
				}
				call := x.(map[string]any)
				k := slices.IndexFunc(set, func(t Tool) bool { return t.Name == call["name"] })
				if k < 0 || len(call) != 2 {
					t.Fatalf("%s: not a call of a declared tool", text)
				}
				if err := validator(t, string(set[k].Schema)).Validate(call["arguments"]); err != nil {
					t.Fatalf("%s: %#v", text, err)
				}
			}
		}
	}
}

// TestNoToken: a vocabulary that cannot go on is an error that says so.
func TestNoToken(t *testing.T) {
	tokens := []string{`"`, "a", "b"}
	v, err := NewVocabulary(3, func(id int) []byte { return []byte(tokens[id]) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := compileT(t, `{"enum":["ab","ac"]}`, nil).NewMatcher(v)
	legal := make([]uint64, 1)
	for _, id := range []int{0, 1} {
		if err := m.Mask(legal); err != nil {
			t.Fatal(err)
		}
		if err := m.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Mask(legal); err != nil || legal[0] != 1<<2 {
		t.Errorf("%v, mask %b", err, legal[0])
	}
	m = compileT(t, `{"type":"integer"}`, nil).NewMatcher(v)
	if err := m.Mask(legal); !errors.Is(err, ErrNoToken) || !strings.Contains(err.Error(), "byte 0") || legal[0] != 0 {
		t.Errorf("%v, mask %b", err, legal[0])
	}
	m = compileT(t, `{"const":"a"}`, nil).NewMatcher(v)
	if err := m.AcceptBytes([]byte(`"a"`)); err != nil {
		t.Fatal(err)
	}
	if err := m.Mask(legal); !errors.Is(err, ErrNoToken) || !strings.Contains(err.Error(), "complete") {
		t.Error(err)
	}
}

// TestForced: what is forced is what every walk writes.
func TestForced(t *testing.T) {
	five := hundredTools(t)[:0]
	for _, tool := range hundredTools(t) {
		if slices.Contains([]string{"read_file", "list_dir", "write_file", "compute", "done"}, tool.Name) {
			five = append(five, tool)
		}
	}
	g, err := CompileTools(five, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := g.NewMatcher(nil)
	var free int
	var text string
	feed := func(s string) {
		t.Helper()
		if err := m.AcceptBytes([]byte(s)); err != nil {
			t.Fatal(err)
		}
		text += s
	}
	for _, s := range []string{"w", "notes/a.txt\"", "hello\""} {
		feed(string(m.Forced()))
		feed(s)
		free += len(s)
	}
	feed(string(m.Forced()))
	if want := `{"name":"write_file","arguments":{"path":"notes/a.txt","content":"hello"}}`; text != want || !m.Done() {
		t.Errorf("%s, want %s", text, want)
	}
	if len(m.Forced()) != 0 {
		t.Error("forced after the end")
	}
	for schema, want := range map[string]string{
		`{"const":{"a":[1,"x\"",null]}}`:                                 `{"a":[1,"x\"",null]}`,
		`{"enum":["apple","apricot"]}`:                                   `"ap`,
		`{"type":"string"}`:                                              `"`,
		`{"type":"integer","minimum":700,"maximum":799}`:                 `7`,
		`{"type":"array","items":{"const":1},"minItems":2}`:              `[1,1`,
		`{"type":"array","prefixItems":[{"const":1}],"maxItems":1}`:      `[`,
		`{"type":"array","items":{"const":1},"minItems":2,"maxItems":2}`: `[1,1]`,
		`{"type":"boolean"}`:                                             ``,
		`{"type":"string","pattern":"^id-"}`:                             `"id-`,
		`{"type":"object"}`:                                              `{`,
		`{"const":5}`:                                                    `5`,
	} {
		if got := string(compileT(t, schema, nil).NewMatcher(nil).Forced()); got != want {
			t.Errorf("%s: forced %q, want %q", schema, got, want)
		}
	}
	if got := string(compileT(t, `{"const":{"a":[1,2]}}`, &Options{Spaced: true}).NewMatcher(nil).Forced()); got != `{"a": [1, 2]}` {
		t.Errorf("spaced: %q", got)
	}
}

// TestCloneAndReset: a clone goes its own way, and a reset matcher begins anew.
func TestCloneAndReset(t *testing.T) {
	g := compileT(t, `{"type":"object"}`, nil)
	m := g.NewMatcher(nil)
	if err := m.AcceptBytes([]byte(`{"a":1,"`)); err != nil {
		t.Fatal(err)
	}
	c := m.Clone()
	if err := m.AcceptBytes([]byte(`b":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := c.AcceptBytes([]byte(`a":2}`)); !errors.Is(err, ErrRefused) {
		t.Errorf("the clone forgot a key: %v", err)
	}
	if err := c.AcceptBytes([]byte(`c":2,"b":3}`)); err != nil {
		t.Errorf("the clone is not its own: %v", err)
	}
	m.Reset()
	if err := m.AcceptBytes([]byte(`{"a":1}`)); err != nil || !m.Complete() {
		t.Error(err)
	}
}

// TestMachineBeginsAnew: a grammar that has seen many states forgets them, and
// the matchers on their way do not notice.
func TestMachineBeginsAnew(t *testing.T) {
	g := compileT(t, `{"type":"array","items":{"type":"object"},"maxItems":1000000}`, &Options{MaxBytes: 1 << 20})
	a, b := g.NewMatcher(nil), g.NewMatcher(nil)
	if err := b.AcceptBytes([]byte(`[{"k":{"l":[[1,`)); err != nil {
		t.Fatal(err)
	}
	first := g.machine
	if err := a.AcceptBytes([]byte(`[`)); err != nil {
		t.Fatal(err)
	}
	for range 40000 {
		if err := a.AcceptBytes([]byte(`{"k":1},`)); err != nil {
			t.Fatal(err)
		}
	}
	if g.machine == first {
		t.Error("the machine is still the first")
	}
	if n := len(g.machine.frames) + len(g.machine.contexts); n > maxMachine+1000 {
		t.Errorf("%d frames and contexts", n)
	}
	if err := b.AcceptBytes([]byte(`2]],"l":3}}]`)); !errors.Is(err, ErrRefused) {
		t.Errorf("a key was forgotten: %v", err)
	}
	if err := b.AcceptBytes([]byte(`2]],"m":3}}]`)); err != nil || !b.Complete() {
		t.Error(err)
	}
	if err := a.AcceptBytes([]byte(`{"k":{"a":[]}}]`)); err != nil || !a.Complete() {
		t.Error(err)
	}
}
