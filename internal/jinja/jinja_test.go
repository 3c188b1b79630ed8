package jinja

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"
)

var testTime = time.Date(2024, 7, 6, 13, 5, 9, 0, time.UTC)

// loadVectors reads what Python's jinja2 renders (testdata/make.py).
func loadVectors(t testing.TB) (vars map[string]Value, cases []vector) {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vars  json.RawMessage
		Cases []vector
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	v, err := FromJSON(file.Vars)
	if err != nil {
		t.Fatal(err)
	}
	vars = map[string]Value{}
	for i, k := range v.(*Dict).keys {
		vars[k.(text).s] = v.(*Dict).values[i]
	}
	return vars, file.Cases
}

type vector struct {
	Template string
	Text     *string
	Error    string
}

func render(source string, vars map[string]Value, fuel int) (*Rendering, error) {
	tmpl, err := Parse(source)
	if err != nil {
		return nil, err
	}
	return tmpl.Render(vars, &Options{Fuel: fuel, Now: func() time.Time { return testTime }})
}

// laxer are templates that jinja2 refuses and this package renders, or that it
// renders in another way, each with the reason.
var laxer = map[string]string{
	"{{ d.items }}":                                 "shows an address",
	"{{ [1, 2]|map('nope') }}":                      "a lazy filter never ran",
	"{{ '%s' % 'a' }}":                              "printf-style formatting is not supported",
	"{{ lorem }}{{ self is defined }}":              "there are no blocks, so no self",
	"{% raw %}":                                     "raw without endraw at the very end",
	"{{ d.get('y', default='q') }}":                 "get takes default by name",
	"{% for x in l recursive %}{{ x }}{% endfor %}": "recursive loops are not supported",
	"{% block b %}x{% endblock %}":                  "blocks are not supported",
}

func TestVectors(t *testing.T) {
	vars, cases := loadVectors(t)
	if len(cases) < 200 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		if laxer[c.Template] != "" {
			continue
		}
		r, err := render(c.Template, vars, 0)
		switch {
		case c.Text == nil && err == nil:
			t.Errorf("%q: rendered %q, want an error as %q", c.Template, r.Text, c.Error)
		case c.Text == nil:
			if !isKnown(err) {
				t.Errorf("%q: error %v wraps none of the sentinels", c.Template, err)
			}
		case err != nil:
			t.Errorf("%q: error %v, want %q", c.Template, err, *c.Text)
		case r.Text != *c.Text:
			t.Errorf("%q:\n got %q\nwant %q", c.Template, r.Text, *c.Text)
		}
		if err == nil {
			checkSpans(t, c.Template, r)
		}
	}
}

func isKnown(err error) bool {
	return errors.Is(err, ErrSyntax) || errors.Is(err, ErrRender) || errors.Is(err, ErrRaised) || errors.Is(err, ErrLimit)
}

func checkSpans(t testing.TB, name string, r *Rendering) {
	t.Helper()
	end := -1
	for _, s := range r.Data {
		if s.Start <= end || s.End <= s.Start || s.End > len(r.Text) {
			t.Fatalf("%q: span %v after %d in %d bytes", name, s, end, len(r.Text))
		}
		end = s.End
	}
}
