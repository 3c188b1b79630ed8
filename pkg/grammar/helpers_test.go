package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/bits"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// validator compiles a schema with the reference library, formats asserted and
// nothing fetched.
func validator(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	s, err := compileReference(schema)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return s
}

func compileReference(schema string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errors.New("refused") }
	if err := c.AddResource("schema:///s.json", strings.NewReader(schema)); err != nil {
		return nil, err
	}
	return c.Compile("schema:///s.json")
}

// decodeStrict decodes one JSON text, numbers as json.Number, and fails on
// duplicate keys.
func decodeStrict(text []byte) (any, error) {
	var ids int
	if _, err := parseJSON(text, &document{}, &ids); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	// What is decoded as float64 must not overflow.
	var f any
	return v, json.Unmarshal(text, &f)
}

// smallVocabulary has all bytes, and the tokens that JSON texts of small models
// are made of, those that span structure among them.
var smallVocabulary = sync.OnceValue(func() *Vocabulary {
	var tokens []string
	for c := range 256 {
		tokens = append(tokens, string([]byte{byte(c)}))
	}
	tokens = append(tokens, `{"`, `":`, `":"`, `","`, `"}`, `"]`, `},{"`, `":{"`, `":[`, `[]`, `{}`, `""`, `"a`, `"b":`, `a":1`, `,"a":`, `"a","b"`,
		`true`, `false`, `null`, `tr`, `ue`, `12`, `00`, `0.`, `1e`, `.5`, `-1`, `10,`, `]}`, `\n`, `\"`, `\u00`, `\ud83d`, `\ude00`, `\\`, `ab`, `abc`, `the`, ` `, `  `,
		"é", "\xc3", "\xa9\"", "😀", "\xf0\x9f", "\x98\x80", "ab\"", "key\":", "a\":\"b\",\"a\":", "x\":1,\"x\":", ": ", ", ", "\": \"", "日本", "=\"")
	v, err := NewVocabulary(len(tokens)+2, func(id int) []byte {
		if id < len(tokens) {
			return []byte(tokens[id])
		}
		return []byte("<|end|>")
	}, []int{len(tokens), len(tokens) + 1})
	if err != nil {
		panic(err)
	}
	return v
})

// legalTokens lists the bits of a mask.
func legalTokens(legal []uint64) []int {
	ids := make([]int, 0, countBits(legal))
	for i, w := range legal {
		for ; w != 0; w &= w - 1 {
			ids = append(ids, 64*i+bits.TrailingZeros64(w))
		}
	}
	return ids
}

// pick returns one of the n bits of a mask.
func pick(legal []uint64, n int, r *rand.Rand) int {
	k := r.IntN(n)
	for i, w := range legal {
		if ones := bits.OnesCount64(w); k >= ones {
			k -= ones
			continue
		}
		for ; k > 0; k-- {
			w &= w - 1
		}
		return 64*i + bits.TrailingZeros64(w)
	}
	panic("no bit")
}

func countBits(legal []uint64) int {
	n := 0
	for _, w := range legal {
		n += bits.OnesCount64(w)
	}
	return n
}

// walk follows masks at random to the end and returns the text. After some
// tokens it prefers those that close something, so that texts stay short; or
// there may be so many tokens and no more.
func walk(t testing.TB, what string, g *Grammar, v *Vocabulary, r *rand.Rand) []byte {
	t.Helper()
	m := g.NewMatcher(v)
	legal := make([]uint64, (v.Size()+63)/64)
	var text []byte
	patience := r.IntN(40)
	if r.IntN(3) == 0 {
		switch err := m.LimitTokens(20 + r.IntN(300)); {
		case err == nil:
			patience = 1 << 20
		case !errors.Is(err, ErrLimit):
			t.Fatal(err)
		}
	}
	for n := 0; ; n++ {
		if n > 20000 {
			t.Fatalf("%s: no end after %d tokens: %.200q", what, n, text)
		}
		if r.IntN(3) == 0 {
			if forced := m.Forced(); len(forced) > 0 {
				if err := m.AcceptBytes(forced); err != nil {
					t.Fatalf("%s: forced %q after %q: %v", what, forced, text, err)
				}
				text = append(text, forced...)
				continue
			}
		}
		if err := m.Mask(legal); err != nil {
			t.Fatalf("%s: after %q: %v (room %d, left %d, threads %v)", what, text, err, g.opts.MaxBytes-m.used, m.left(m.threads, &m.keys), m.threads)
		}
		count := countBits(legal)
		id := pick(legal, count, r)
		if n > patience {
			// The last of a few choices by how it closes.
			for range 8 {
				other := pick(legal, count, r)
				if closing(v, other) > closing(v, id) {
					id = other
				}
			}
			for _, c := range []byte(`"]}`) {
				if legal[c/64]>>(c%64)&1 != 0 && r.IntN(2) == 0 {
					id = int(c)
				}
			}
		}
		if err := m.Accept(id); err != nil {
			t.Fatalf("%s: after %q the mask has %q, but: %v", what, text, v.bytes(int32(id)), err)
		}
		if len(v.bytes(int32(id))) == 0 {
			if !m.Done() {
				t.Fatalf("not done after the end")
			}
			return text
		}
		text = append(text, v.bytes(int32(id))...)
	}
}

func closing(v *Vocabulary, id int) int {
	b := v.bytes(int32(id))
	if len(b) == 0 {
		return 3
	}
	return bytes.Count(b, []byte{'"'}) + 2*bytes.Count(b, []byte{'}'}) + 2*bytes.Count(b, []byte{']'}) - 2*bytes.Count(b, []byte{'{'}) - 2*bytes.Count(b, []byte{'['})
}

func compileT(t testing.TB, schema string, o *Options) *Grammar {
	t.Helper()
	g, err := Compile([]byte(schema), o)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return g
}
