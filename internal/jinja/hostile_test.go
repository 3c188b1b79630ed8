package jinja

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostile templates must end in an error, whatever they try.
var hostile = map[string]string{
	"nested loops":              strings.Repeat("{% for a in range(100000) %}", 6) + "x" + strings.Repeat("{% endfor %}", 6),
	"endless output":            "{% for a in range(100000) %}{% for b in range(100000) %}" + strings.Repeat("x", 1000) + "{% endfor %}{% endfor %}",
	"large range":               "{{ range(10**9)|list }}",
	"range of all integers":     "{{ range(-9223372036854775807, 9223372036854775807) }}",
	"range overflows":           "{{ range(-9223372036854775807, 9223372036854775807, 9223372036854775807)|list }}{{ range(10**9) }}",
	"doubling":                  "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
	"doubling by plus":          "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
	"doubling of a list":        "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
	"doubling by join":          "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s]|join %}{% endfor %}",
	"doubling by block":         "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set t %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = t %}{% endfor %}",
	"doubling by format":        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = '{0}{0}'.format(ns.s) %}{% endfor %}",
	"doubling by macro":         "{% macro m(s) %}{{ s }}{{ s }}{% endmacro %}{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = m(ns.s) %}{% endfor %}",
	"squaring by replace":       "{% set ns = namespace(s='xx') %}{% for i in range(9) %}{% set ns.s = ns.s|replace('x', ns.s) %}{% endfor %}",
	"squaring by method":        "{% set ns = namespace(s='xx') %}{% for i in range(9) %}{% set ns.s = ns.s.replace('x', ns.s) %}{% endfor %}",
	"repeat":                    "{{ 'x' * 10**15 }}",
	"repeat by int64":           "{{ 'xxxxxxxxxxxxxxxx' * 9223372036854775807 }}",
	"repeat of data":            "{{ data * 10**12 }}",
	"repeat of a list":          "{{ [1, 2, 3] * 10**15 }}",
	"repeat the other way":      "{{ 10**15 * 'x' }}",
	"center":                    "{{ 'x'.center(10**15) }}",
	"ljust":                     "{{ 'x'.ljust(9223372036854775807, 'y') }}",
	"zfill":                     "{{ '1'.zfill(10**15) }}",
	"filter center":             "{{ 'x'|center(10**12) }}",
	"indent":                    "{{ 'x\ny'|indent(10**15) }}",
	"indent many lines":         "{{ ('\n' * 100000)|indent(100000, blank=true) }}",
	"tojson indent":             "{{ [1]|tojson(indent=10**15) }}",
	"tojson indent deep":        "{{ [[[[[[1]]]]]]|tojson(indent='x' * 30000000) }}",
	"batch fill":                "{{ [1]|batch(2000000000, 'x') }}",
	"recursion":                 "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
	"mutual recursion":          "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
	"branching recursion":       "{% macro f(n) %}{% if n > 0 %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
	"recursion by default":      "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
	"recursion by caller":       "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
	"recursion by namespace":    "{% set ns = namespace() %}{% macro f() %}{{ ns.f() }}{% endmacro %}{% set ns.f = f %}{{ ns.f() }}",
	"nested filters":            "{{ 'x'" + strings.Repeat("|upper", 3000) + " }}",
	"nested parentheses":        "{{ " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + " }}",
	"nested lists":              "{{ " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + " }}",
	"nested dicts":              "{{ " + strings.Repeat("{1:", 80000) + "1" + strings.Repeat("}", 80000) + " }}",
	"nested subscripts":         "{{ " + strings.Repeat("a[", 100000) + "1" + strings.Repeat("]", 100000) + " }}",
	"nested calls":              "{{ " + strings.Repeat("a(", 100000) + "1" + strings.Repeat(")", 100000) + " }}",
	"nested not":                "{{ " + strings.Repeat("not ", 60000) + "1 }}",
	"nested minus":              "{{ " + strings.Repeat("- ", 100000) + "1 }}",
	"nested conditions":         "{{ " + strings.Repeat("1 if 1 else ", 20000) + "1 }}",
	"nested statements":         strings.Repeat("{% if 1 %}", 20000) + strings.Repeat("{% endif %}", 5000),
	"nested targets":            "{% set " + strings.Repeat("(", 100000) + "a" + strings.Repeat(")", 100000) + " = 1 %}",
	"long chain":                "{{ 1" + strings.Repeat("+1", 100000) + " }}",
	"long chain of attributes":  "{{ ns" + strings.Repeat(".a", 100000) + " }}",
	"long chain of conditions":  "{{ 1" + strings.Repeat(" if 1", 40000) + " }}",
	"deep value":                "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
	"deep JSON":                 "{% set ns = namespace(x=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x|tojson }}",
	"deep comparison":           "{% set ns = namespace(x=[], y=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
	"deep order":                "{% set ns = namespace(x=[1], y=[2]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x < ns.y }}",
	"a namespace in itself":     "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
	"a namespace in its list":   "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x }}{{ ns.x|tojson }}",
	"a list many times":         "{% set ns = namespace(x=['xxxxxxxx']) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
	"a list many times as JSON": "{% set ns = namespace(x=['xxxxxxxx']) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
	"equal many times":          "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
	"integer power":             "{{ 3 ** 10**18 }}",
	"float power":               "{{ 10.0 ** 400 }}",
	"integer overflow":          "{{ 9223372036854775807 + 1 }}",
	"integer product":           "{{ 4611686018427387904 * 2 }}",
	"least integer":             "{{ (-9223372036854775807 - 1) * -1 }}",
	"least integer negated":     "{{ -(-9223372036854775807 - 1) }}",
	"least integer divided":     "{{ (-9223372036854775807 - 1) // -1 }}",
	"absolute least integer":    "{{ (-9223372036854775807 - 1)|abs }}",
	"long integer":              "{{ " + strings.Repeat("9", 100000) + " }}",
	"sorting":                   "{% for i in range(100000) %}{{ range(100000)|sort|length }}{% endfor %}",
	"searching text":            "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% if 'b' in s %}{% endif %}{% endfor %}",
	"comparing text":            "{% set s = 'a' * 1000000 %}{% set t = 'a' * 1000000 %}{% for i in range(100000) %}{% if s == t %}{% endif %}{% endfor %}",
	"hashing text":              "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% if s in {} %}{% endif %}{% endfor %}",
	"stripping text":            "{% set s = ' ' * 1000000 %}{% for i in range(100000) %}{% if s.strip() %}{% endif %}{% endfor %}",
	"splitting text":            "{{ ('a ' * 1000000).split(' ') }}{{ ('a ' * 10000000).split() }}",
	"lines of text":             "{{ ('\n' * 20000000).splitlines()|length }}",
	"characters of text":        "{% for c in 'x' * 20000000 %}{% endfor %}",
	"empty replace":             "{{ ('x' * 10000000).replace('', 'yyyyyyyyyyyyyyyy') }}",
	"mixed text":                "{% set ns = namespace(s=data) %}{% for i in range(60) %}{% set ns.s = ns.s ~ 'a' ~ ns.s %}{% endfor %}{{ ns.s }}",
	"slices of mixed text":      "{% set ns = namespace(s=data) %}{% for i in range(17) %}{% set ns.s = ns.s ~ 'a' ~ ns.s %}{% endfor %}{% for i in range(100000) %}{% if ns.s[1:-1] %}{% endif %}{% endfor %}",
	"steps of mixed text":       "{% set ns = namespace(s=data) %}{% for i in range(17) %}{% set ns.s = ns.s ~ 'a' ~ ns.s %}{% endfor %}{% for i in range(100000) %}{% if ns.s.strip() %}{% endif %}{% endfor %}",
	"many variables":            "{% set ns = namespace() %}{% for i in range(100000) %}{% for j in range(100000) %}{% set x = [i, j] %}{% endfor %}{% endfor %}",
	"dict by repetition":        "{% for i in range(100000) %}{% set d = dict(range(1000)|map('list')) %}{% endfor %}",
	"unpacking arguments":       "{% for i in range(100000) %}{{ cycler(*range(100000)).next() }}{% endfor %}",
	"strftime":                  "{{ strftime_now('%c' * 10000000) }}",
	"map of map":                "{{ [[1]]|map('map', 'map', 'map', 'nope')|list }}",
	"choosing":                  "{% for i in range(100000) %}{{ range(100000)|select('odd')|list|length }}{% endfor %}",
	"nested if":                 strings.Repeat("{% if 1 %}", 200) + strings.Repeat("{% endif %}", 200),
	"large source":              strings.Repeat("x", maxSource+1),
	"step overflows":            "{{ [1, 2, 3][::9223372036854775807] }}{{ [1][::-9223372036854775807] }}{{ [1][9223372036854775807:-9223372036854775807:-1] }}{{ f() }}",
	"join of a macro":           "{% macro m() %}{{ 'x' * 1000000 }}{% endmacro %}{{ [m()] * 1000000 }}",
	"rounding":                  "{{ 1.5|round(10**18) }}",
	"replacing itself":          "{% set ns = namespace(f=range) %}{% for i in range(100000) %}{{ ns.f(100000)|length }}{% endfor %}",
}

func TestHostile(t *testing.T) {
	const fuel = DefaultFuel / 4
	vars := map[string]Value{"data": Given("dd")}
	for name, source := range hostile {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := render(source, vars, fuel)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("rendered %d bytes: %.60q", len(r.Text), r.Text)
			}
			if !errors.Is(err, ErrLimit) && !errors.Is(err, ErrRender) && !errors.Is(err, ErrSyntax) {
				t.Errorf("error %v", err)
			}
			if len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			// All that it allocated, whether or not it was live at once.
			if n := after.TotalAlloc - before.TotalAlloc; n > 32*fuel {
				t.Errorf("allocated %d MiB on the way to %v", n>>20, err)
			}
		})
	}
}

// TestFuel: a smaller budget ends earlier, a larger one lets more pass, and a
// large input brings its own.
func TestFuel(t *testing.T) {
	const source = "{% for i in range(1000) %}{{ data }}{% endfor %}"
	vars := map[string]Value{"data": Given("0123456789")}
	if _, err := render(source, vars, 10000); !errors.Is(err, ErrLimit) {
		t.Errorf("error %v, want ErrLimit", err)
	}
	if r, err := render(source, vars, 1<<20); err != nil || len(r.Text) != 10000 {
		t.Errorf("error %v", err)
	}
	large := Given(strings.Repeat("x", 8<<20))
	if r, err := render("{{ data ~ data ~ data }}{{ data|trim|tojson }}", map[string]Value{"data": large}, 0); err != nil || len(r.Text) != 32<<20+2 {
		t.Errorf("a large input: error %v", err)
	}
}

// TestDeepInput: values nested deeper than any template can use.
func TestDeepInput(t *testing.T) {
	v := Value(nil)
	for range 100000 {
		v = List(v)
	}
	if _, err := render("{{ v }}", map[string]Value{"v": v}, 0); !errors.Is(err, ErrRender) {
		t.Errorf("error %v", err)
	}
	if _, err := FromJSON([]byte(strings.Repeat("[", 100000))); err == nil {
		t.Error("FromJSON accepted 100000 brackets")
	}
	if _, err := FromJSON([]byte(fmt.Sprintf(`{"a":%s}`, strings.Repeat("9", 100000)))); err == nil {
		t.Error("FromJSON accepted an integer of 100000 digits")
	}
}
