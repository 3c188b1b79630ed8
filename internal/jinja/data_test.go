package jinja

import (
	"strings"
	"testing"
)

// TestData: in these templates all and only what is given is upper case, so the
// spans of data can be checked byte by byte.
func TestData(t *testing.T) {
	list, err := FromJSON([]byte(`["X", "Y", {"K": ["Z"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDict()
	d.Set("l", list)
	for k, v := range map[string]string{"s": "AB CD", "ws": "  A  ", "lines": "A\nB\n\nC", "u": "ÄÖ", "q": "A\"B"} {
		d.Set(k, Given(v))
	}
	vars := map[string]Value{"d": d, "bos": Written("<s>")}
	for _, source := range []string{
		"{{ d.s }}",
		"<{{ d.s }}>{{ bos }}",
		"{{ 'x' + d.s + 'y' ~ d.s ~ bos }}",
		"{{ d.s[1:4] }}|{{ ('x' ~ d.s ~ 'y')[1:-1] }}|{{ ('x' ~ d.s ~ 'y')[::-1] }}|{{ ('xx' ~ d.u)[1] }}{{ ('xx' ~ d.u)[-1] }}",
		"{{ ('a' ~ d.s ~ 'b').split(' ')|join('-') }}{{ (d.s ~ ',z').split(',') }}",
		"[{{ d.ws|trim }}][{{ (' x' ~ d.ws ~ 'y ').strip() }}][{{ d.ws.lstrip() }}]",
		"{{ ('x' ~ d.s ~ 'x').replace('x', 'yy') }}{{ 'aba'.replace('b', d.s) }}{{ d.s|replace(' ', '_') }}",
		"{{ d.l|tojson }}{{ d.l|tojson(indent=2) }}{{ {'a': d.q}|tojson }}",
		"{{ d.l }}{{ {d.s: d.u} }}{{ [d.q, 'x'] }}",
		"{{ d.lines|indent(2) }}{{ d.lines|indent('> ', true, true) }}{{ (d.lines ~ '\nx').splitlines() }}",
		"{% for c in 'x' ~ d.s ~ 'y' %}[{{ c }}]{% endfor %}{{ ('x' ~ d.s)|list|join }}{{ ('x' ~ d.s)|reverse }}",
		"{% macro m(a) %}<{{ a }}>{{ caller() }}{% endmacro %}{% call m(d.s) %}({{ d.u }}){% endcall %}",
		"{% set x %}a{{ d.s }}b{% endset %}{{ x }}{{ x|length }}{% filter replace('b', 'c') %}b{{ d.s }}{% endfilter %}",
		"{% for k, v in d.l[2].items() %}{{ k }}={{ v|first }}{% endfor %}{{ d.l[2].keys()|list }}",
		"{{ '{}-{}'.format(d.s, 'x') }}{{ ('{}' ~ d.s).format('z') }}",
		"{{ d.s.partition(' ') }}{{ ('x' ~ d.s).removeprefix('xA') }}{{ d.s.center(9, '*') }}{{ d.s * 2 }}{{ ('a' ~ d.s) * 2 }}",
		"{{ d.l[:2]|join('x') }}{{ ['a', d.s]|sort|join }}{{ [d.s, d.s]|unique|first }}{{ d.nope|default(d.s) }}{{ [1, 2.5]|join }}",
		"{{ ('a' ~ d.s ~ 'b').rsplit(' ', 1) }}{{ d.s|wordcount }}{{ d.u.find('Ö') }}{{ d.s|e }}",
	} {
		r, err := render(source, vars, 0)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		checkSpans(t, source, r)
		isGiven := func(r rune) bool { return r >= 'A' && r <= 'Z' || r == 'Ä' || r == 'Ö' }
		marked := make([]bool, len(r.Text))
		for _, s := range r.Data {
			for i := s.Start; i < s.End; i++ {
				marked[i] = true
			}
		}
		for i, c := range r.Text {
			if isGiven(c) && !marked[i] {
				t.Errorf("%s: %q at %d of %q was given, and is not marked", source, c, i, r.Text)
				break
			}
			if !isGiven(c) && marked[i] && !strings.ContainsRune(" \n\"\\", c) {
				t.Errorf("%s: %q at %d of %q is the template's, and is marked", source, c, i, r.Text)
				break
			}
		}
	}
	// A change of case keeps the marks of each character.
	r, err := render("{{ ('x' ~ d.s ~ 'y')|upper }}{{ ('x' ~ d.u)|title }}", vars, 0)
	if err != nil || r.Text != "XAB CDYXäö" {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := []Span{{1, 6}, {8, 12}}; len(r.Data) != 2 || r.Data[0] != want[0] || r.Data[1] != want[1] {
		t.Errorf("spans %v, want %v", r.Data, want)
	}
}

func FuzzTemplate(f *testing.F) {
	vars, cases := loadVectors(f)
	for _, c := range cases {
		f.Add(c.Template)
	}
	for _, source := range hostile {
		if len(source) < 1000 {
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		r, err := render(source, vars, 1<<18)
		r2, err2 := render(source, vars, 1<<18)
		if err != nil {
			if !isKnown(err) {
				t.Fatalf("error %v", err)
			}
			if err2 == nil || err.Error() != err2.Error() {
				t.Fatalf("error %v, then %v", err, err2)
			}
			return
		}
		checkSpans(t, source, r)
		if err2 != nil || r.Text != r2.Text {
			t.Fatalf("%q, then %q, %v", r.Text, r2.Text, err2)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a": [1, -2.5e3, null, true, "x\u00e9\n"], "b": {}}`)
	f.Add(`123456789012345678901234567890`)
	f.Add(`{"a": 1, "a": 2}`)
	f.Fuzz(func(t *testing.T, data string) {
		v, err := FromJSON([]byte(data))
		if err != nil {
			return
		}
		// What tojson writes reads back as the same value.
		vars := map[string]Value{"v": v}
		r, err := render("{{ v|tojson }}", vars, 0)
		if err != nil {
			t.Fatal(err)
		}
		again, err := FromJSON([]byte(r.Text))
		if err != nil {
			if strings.Contains(r.Text, "Infinity") {
				return // Python writes it, JSON knows no such number
			}
			t.Fatalf("%q: %v", r.Text, err)
		}
		vars["w"] = again
		if r, err := render("{{ v == w }}", vars, 0); err != nil || r.Text != "True" {
			t.Fatalf("%q became %v", data, again)
		}
	})
}
