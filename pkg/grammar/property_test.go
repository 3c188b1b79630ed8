package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// A schemaMaker makes random schemas, and random values that look as if they
// might be valid by them.
type schemaMaker struct {
	r     *rand.Rand
	depth int
}

func (s *schemaMaker) pick(options ...string) string { return options[s.r.IntN(len(options))] }
func (s *schemaMaker) chance(percent int) bool       { return s.r.IntN(100) < percent }

var (
	madeNames    = []string{"a", "b", "ab", "x", "key", "a\"b", "é", "long_name", "x-1", ""}
	madePatterns = []string{"^[a-z]+$", "b", "^a", "b$", "^(a|b)*c?$", `^\d{2,4}$`, `^[A-Z][a-z]{0,3}$`, `^\S+@\S+$`, `^[^/]*$`, `^(ab|cd){1,2}$`, `\\`, `^[a\-z]+$`, `^\w+( \w+)*$`, "^é|x$", `^.{1,3}$`, "", `^\s*\S`, "a|b"}
	madeFormats  = []string{"date", "time", "date-time", "ipv4", "ipv6", "uuid", "email", "hostname", "uri", "duration", "json-pointer", "uri-reference", "relative-json-pointer"}
)

func (s *schemaMaker) schema() any {
	s.depth++
	defer func() { s.depth-- }()
	if s.chance(3) {
		return s.chance(80)
	}
	m := map[string]any{}
	if s.chance(4) {
		m["$ref"] = s.pick("#/$defs/A", "#/$defs/B", "#/$defs/C")
	}
	if s.depth < 4 && s.chance(12) {
		var branches []any
		for range 1 + s.r.IntN(3) {
			branches = append(branches, s.schema())
		}
		m[s.pick("anyOf", "anyOf", "allOf", "oneOf")] = branches
	}
	if s.chance(8) {
		var values []any
		for range 1 + s.r.IntN(5) {
			values = append(values, s.value(2))
		}
		m["enum"] = values
	} else if s.chance(4) {
		m["const"] = s.value(2)
	}
	types := []string{"string", "integer", "number", "boolean", "null", "object", "array"}
	if s.depth >= 4 {
		types = types[:5]
	}
	switch {
	case s.chance(80):
		m["type"] = types[s.r.IntN(len(types))]
	case s.chance(60):
		m["type"] = []string{types[s.r.IntN(len(types))], "null"}
	}
	if m["type"] == nil && s.depth >= 3 {
		m["type"] = "string"
	}
	if l, ok := m["type"].([]string); ok && l[0] == "null" {
		m["type"] = "null"
	}
	of := func(t string) bool {
		switch x := m["type"].(type) {
		case string:
			return x == t
		case []string:
			return slices.Contains(x, t)
		}
		return s.chance(20)
	}
	if of("string") {
		s.stringKeywords(m)
	}
	if of("integer") || of("number") {
		s.numberKeywords(m)
	}
	if of("array") {
		s.arrayKeywords(m)
	}
	if of("object") {
		s.objectKeywords(m)
	}
	return m
}

func (s *schemaMaker) stringKeywords(m map[string]any) {
	if s.chance(25) {
		m["minLength"] = s.r.IntN(4)
	}
	if s.chance(25) {
		m["maxLength"] = s.r.IntN(8)
	}
	if s.chance(25) {
		m["pattern"] = madePatterns[s.r.IntN(len(madePatterns))]
	} else if s.chance(12) {
		m["format"] = madeFormats[s.r.IntN(len(madeFormats))]
	}
}

func (s *schemaMaker) numberKeywords(m map[string]any) {
	number := func() any {
		switch s.r.IntN(6) {
		case 0:
			return json.Number(fmt.Sprintf("%d.%d", s.r.IntN(20)-10, s.r.IntN(100)))
		case 1:
			return json.Number(fmt.Sprintf("%de%d", 1+s.r.IntN(9), s.r.IntN(50)-25))
		case 2:
			return 0
		}
		return s.r.IntN(2000) - 1000
	}
	if s.chance(25) {
		m[s.pick("minimum", "exclusiveMinimum")] = number()
	}
	if s.chance(25) {
		m[s.pick("maximum", "exclusiveMaximum")] = number()
	}
	if s.chance(15) {
		m["multipleOf"] = json.Number(s.pick("1", "2", "3", "7", "10", "100", "0.5", "0.01", "0.25", "1.5", "1000", "12"))
	}
}

func (s *schemaMaker) arrayKeywords(m map[string]any) {
	if s.chance(70) {
		m["items"] = s.schema()
	}
	if s.chance(20) {
		m["prefixItems"] = []any{s.schema(), s.schema()}[:1+s.r.IntN(2)]
	}
	if s.chance(30) {
		m["minItems"] = s.r.IntN(3)
	}
	if s.chance(40) {
		m["maxItems"] = s.r.IntN(5)
	}
}

func (s *schemaMaker) objectKeywords(m map[string]any) {
	if s.chance(80) {
		p := map[string]any{}
		var required []string
		for range s.r.IntN(5) {
			name := madeNames[s.r.IntN(len(madeNames))]
			p[name] = s.schema()
			if s.chance(40) && !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		m["properties"] = p
		if len(required) > 0 {
			m["required"] = required
		}
	}
	if s.chance(5) {
		m["required"] = []string{s.pick(madeNames...)}
	}
	switch s.r.IntN(5) {
	case 0, 1:
		m["additionalProperties"] = false
	case 2:
		m["additionalProperties"] = s.schema()
	}
	if s.chance(15) {
		m["patternProperties"] = map[string]any{s.pick("^x", "^[ab]$", "^a.*b$", "k", "^[a-c]{1,2}$", "^S_[0-9]+$"): s.schema()}
	}
	if s.chance(10) {
		m["propertyNames"] = map[string]any{s.pick("pattern"): s.pick("^[a-z]+$", "^[ab]{1,2}$", "^k")}
	} else if s.chance(5) {
		m["propertyNames"] = map[string]any{"maxLength": 1 + s.r.IntN(3)}
	}
	if s.chance(12) {
		m["minProperties"] = s.r.IntN(4)
	}
	if s.chance(12) {
		m["maxProperties"] = s.r.IntN(5)
	}
}

// document makes a whole schema, with definitions that may be recursive.
func (s *schemaMaker) document() string {
	root, ok := s.schema().(map[string]any)
	if !ok {
		root = map[string]any{}
	}
	root["$defs"] = map[string]any{
		"A": s.schema(),
		"B": map[string]any{"type": "object", "properties": map[string]any{"v": s.schema(), "next": map[string]any{"$ref": "#/$defs/B"}}, "required": []string{"v"}, "additionalProperties": false},
		"C": map[string]any{"anyOf": []any{map[string]any{"type": "integer"}, map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/C"}, "maxItems": 3}}},
	}
	data, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// value makes a random value.
func (s *schemaMaker) value(depth int) any {
	n := 6
	if depth > 0 {
		n = 8
	}
	switch s.r.IntN(n) {
	case 0:
		return nil
	case 1:
		return s.chance(50)
	case 2:
		return s.r.IntN(2000) - 1000
	case 3:
		return s.number()
	case 4, 5:
		return s.text()
	case 6:
		list := []any{}
		for range s.r.IntN(4) {
			list = append(list, s.value(depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range s.r.IntN(4) {
		m[madeNames[s.r.IntN(len(madeNames))]] = s.value(depth - 1)
	}
	return m
}

func (s *schemaMaker) number() any {
	switch s.r.IntN(5) {
	case 0:
		return float64(s.r.IntN(20000)-10000) / 100
	case 1:
		return math.Pow10(s.r.IntN(60) - 30)
	case 2:
		return math.Float64frombits(s.r.Uint64() &^ (1 << 62)) // finite
	}
	return s.r.IntN(24) - 12
}

func (s *schemaMaker) text() string {
	return s.pick("", "a", "b", "ab", "abc", "é", "x", "A1", "日本語", "a/b", "a\"b", "\n", "\\", "12", "1234", "a b", "😀", "<&>", "\u2028", "Abc", "a@b.c", "2024-02-29", "127.0.0.1", "http://a.b/c?d", "\x7f", "\x01", "cd", "abcd")
}

// like makes a value that a schema might allow.
func (s *schemaMaker) like(schema any, root map[string]any, depth int) any {
	m, ok := schema.(map[string]any)
	if !ok || depth > 6 {
		return s.value(1)
	}
	if ref, ok := m["$ref"].(string); ok && s.chance(70) {
		return s.like(root["$defs"].(map[string]any)[ref[len(ref)-1:]], root, depth+1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if b, ok := m[k].([]any); ok && s.chance(60) {
			return s.like(b[s.r.IntN(len(b))], root, depth+1)
		}
	}
	if e, ok := m["enum"].([]any); ok {
		return e[s.r.IntN(len(e))]
	}
	if e, ok := m["const"]; ok {
		return e
	}
	var name string
	switch x := m["type"].(type) {
	case string:
		name = x
	case []any:
		name = x[s.r.IntN(len(x))].(string)
	default:
		return s.value(2)
	}
	switch name {
	case "null":
		return nil
	case "boolean":
		return s.chance(50)
	case "integer", "number":
		for _, k := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
			if b, ok := m[k].(float64); ok && s.chance(50) {
				return b + float64(s.r.IntN(5)-2)
			}
		}
		if name == "integer" {
			return s.r.IntN(2000) - 1000
		}
		return s.number()
	case "string":
		if s.chance(30) {
			return strings.Repeat(s.pick("a", "b", "é", "1", "Z"), s.r.IntN(5))
		}
		return s.text()
	case "array":
		list := []any{}
		prefix, _ := m["prefixItems"].([]any)
		for i := range s.r.IntN(4) {
			e := m["items"]
			if i < len(prefix) {
				e = prefix[i]
			}
			list = append(list, s.like(e, root, depth+1))
		}
		return list
	}
	out := map[string]any{}
	p, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for k, e := range p {
		if slices.Contains(required, any(k)) || s.chance(50) {
			out[k] = s.like(e, root, depth+1)
		}
	}
	for _, k := range required {
		if _, ok := out[k.(string)]; !ok {
			out[k.(string)] = s.value(1)
		}
	}
	if s.chance(30) {
		out[s.pick("x", "zz", "a", "S_1", "kk", "ba")] = s.like(m["additionalProperties"], root, depth+1)
	}
	return out
}

// spellValue writes a value compactly, the keys of objects in a random order:
// numbers as encoding/json prints them, except that integers are digits.
func spellValue(v any, r *rand.Rand) string {
	switch x := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(x))
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		var parts []string
		for _, k := range keys {
			parts = append(parts, spellValue(k, r)+":"+spellValue(x[k], r))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, spellValue(e, r))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1e60 && math.Abs(x) >= 1e21 {
			return fmt.Sprintf("%.0f", x)
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestRandomSchemas: whatever the automaton lets through is valid by the
// reference library, and what that finds valid is let through.
func TestRandomSchemas(t *testing.T) {
	seeds := 3000
	if testing.Short() {
		seeds = 300
	}
	if os.Getenv("LEVERET_LONG") == "1" {
		seeds = 100000
	}
	v := smallVocabulary()
	var compiled, refused, unsatisfiable, walks, valid, invalid int
	for seed := range uint64(seeds) {
		s := &schemaMaker{r: rand.New(rand.NewPCG(seed, 1))}
		schema := s.document()
		options := &Options{AnyOrder: seed%5 == 1, Spaced: seed%7 == 1, Blanks: int(seed%11) / 10, MaxBytes: 2000}
		g, err := Compile([]byte(schema), options)
		switch {
		case errors.Is(err, ErrUnsatisfiable):
			unsatisfiable++
			g = nil
		case err != nil:
			if !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrLimit) {
				t.Fatalf("seed %d: %s: %v", seed, schema, err)
			}
			refused++
			continue
		default:
			compiled++
		}
		reference, err := compileReference(schema)
		if err != nil && strings.Contains(err.Error(), "infinite loop") {
			continue // in what is never asked for
		}
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, schema, err)
		}
		if g != nil {
			for range 6 {
				text := walk(t, fmt.Sprintf("seed %d: %s", seed, schema), g, v, s.r)
				walks++
				x, err := decodeStrict(text)
				if err != nil {
					t.Fatalf("seed %d: %s\nlets through %q: %v", seed, schema, text, err)
				}
				if err := reference.Validate(x); err != nil {
					t.Fatalf("seed %d: %s\nlets through %s: %#v", seed, schema, text, err)
				}
				if len(text) > 2000 {
					t.Fatalf("seed %d: %d bytes", seed, len(text))
				}
			}
		}
		if options.Spaced {
			continue
		}
		var root map[string]any
		if err := json.Unmarshal([]byte(schema), &root); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			x := s.like(root, root, 0)
			text := spellValue(x, s.r)
			y, err := decodeStrict([]byte(text))
			if err != nil {
				continue // a number beyond float64
			}
			err = reference.Validate(y)
			if err == nil {
				valid++
			} else {
				invalid++
			}
			got := g != nil && accepts(g, []byte(text))
			// By default only one order of the properties is legal.
			for n := 0; n < 3000 && g != nil && err == nil && !got && !options.AnyOrder; n++ {
				got = accepts(g, []byte(spellValue(x, s.r)))
			}
			// The reference library takes more than RFC 3986 and 1123 for these.
			lax := strings.Contains(schema, `"format":"uri`) || strings.Contains(schema, `"format":"hostname`)
			if got != (err == nil) && (got || !beyond(y) && !lax) {
				t.Fatalf("seed %d: %s\n%s: accepted is %v, but: %#v", seed, schema, text, got, err)
			}
		}
	}
	t.Logf("%d schemas compiled, %d refused, %d unsatisfiable; %d walks; %d valid and %d invalid values", compiled, refused, unsatisfiable, walks, valid, invalid)
	if compiled < seeds/3 || valid < seeds/3 {
		t.Error("too few")
	}
}

// beyond reports whether a value has something that is valid, but that no text
// of the grammar spells: escapes or numbers that are too long, integers in
// scientific notation, leap seconds.
func beyond(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, e := range x {
			if beyond(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(x, beyond)
	case string:
		return strings.Contains(x, "\u2028") // white space by ECMA 262, not by RE2
	case json.Number:
		return len(x) > 60 || strings.ContainsAny(string(x), "e")
	}
	return false
}
