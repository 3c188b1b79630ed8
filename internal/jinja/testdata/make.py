"""Writes vectors.json: what small templates render to.

The oracle is Python's jinja2 (pip install jinja2), set up as Hugging Face's
transformers does for chat templates (utils/chat_template_utils.py), with a
fixed date. Where "text" is missing, jinja2 fails; "error" says how.
"""
import datetime
import json
import pathlib

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2024, 7, 6, 13, 5, 9)

VARS = {
    "s": "Hello World", "empty": "", "u": "Grüße 日本語 👩", "ws": " \t\n x y \u00a0\u3000\n", "lines": "a\nb\r\nc\n\nd\u2028e", "q": "it's \"q\" \\ \n\t\x07\x7f é",
    "n": 7, "neg": -7, "zero": 0, "f": 2.5, "tiny": 1e-7, "big": 1e16, "whole": 3.0, "huge": 123456789012345678901234567890, "t": True, "no": False, "none": None,
    "l": [3, 1, 2], "words": ["b", "A", "c", "a"], "nested": [[1, 2], [3, [4, "x"]]], "el": [],
    "d": {"z": 1, "a": "two", "items": 5, "n": None}, "ed": {},
    "msgs": [{"role": "user", "content": "Hi", "n": 1}, {"role": "assistant", "content": "<b> & 'x'", "n": 2}, {"role": "user", "content": "", "tags": ["p", "q"]}],
}

TEMPLATES = r"""
plain
{{ s }}|{{ n }}|{{ f }}|{{ t }}|{{ none }}|{{ l }}|{{ d }}|{{ missing }}|{{ whole }}|{{ tiny }}|{{ big }}|{{ huge }}
{{ q }}|{{ [q] }}|{{ ["'"] }}|{{ ['"'] }}|{{ u }}|{{ [u, ws] }}
{{ (1,) }}|{{ (1, 2) }}|{{ () }}|{{ 1, 2 }}|{{ {} }}|{{ {'a': 1, 2: [3], none: true, 1.5: ()} }}
{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1e3 }} {{ 1.5e-7 }} {{ 1.0 }} {{ 00 }} {{ 1E2 }} {{ 2.50 }}
{{ 007 }}
{{ 'a' 'b' "c" }} {{ "x" }}
{{ 'unterminated }}
{{ "\N{DASH}" }}
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ -2 ** 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 3 ** 2 }}
{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ 1 - 2 - 3 }} {{ - n }} {{ + n }} {{ -f }} {{ t + t }} {{ 1 + 1.0 }} {{ 'a' + 'b' * 2 }} {{ 2 * 'ab' }} {{ 'x' * -1 }} {{ [1] * 2 + [3] }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + (2,) }}
{{ none + 1 }}
{{ missing + 'a' }}
{{ missing.x }}
{{ missing['x'] }}
{{ s.missing }}|{{ d.missing }}|{{ l.missing }}|{{ n.missing }}|{{ none.missing }}
{{ d.missing.deeper }}
{{ 'a' ~ 1 ~ none ~ missing ~ [1] ~ true }}
{{ 1 ~ 2 + 3 }}
{{ 1 ~ 2 }} {{ 'a' + 'b' ~ 'c' }} {{ 2 * 3 ~ 4 }}
{{ 1 == 1.0 }} {{ 1 == true }} {{ '1' == 1 }} {{ none == false }} {{ missing == missing2 }} {{ missing == none }} {{ [1, 2] == [1, 2] }} {{ [1] == (1,) }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1.0} }} {{ 1 != 2 }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 <= 1 }} {{ 2 >= 3 }} {{ 1 < 1.5 }} {{ 3 > 2 == 2 }}
{{ 'a' < 1 }}
{{ none < 1 }}
{{ 'lo' in s }} {{ 'x' not in s }} {{ 1 in l }} {{ 'z' in d }} {{ 1 in d }} {{ '' in '' }} {{ none in [none] }} {{ 1.0 in l }} {{ true in [1] }} {{ 'x' in missing }}
{{ 1 in 'a1' }}
{{ 1 in n }}
{{ not t }} {{ not not t }} {{ t and 'x' }} {{ no and 'x' }} {{ no or 'y' }} {{ empty or none }} {{ not no and no }} {{ t or 1 / 0 }} {{ no and missing.x }}
{{ 'a' if t else 'b' }} {{ 'a' if no }} {{ 'a' if no else 'b' if no else 'c' }} {{ ('a' if no) is undefined }} {{ [('a' if no)] }}
{{ l[0] }} {{ l[-1] }} {{ l[9] }} {{ d['z'] }} {{ d.z }} {{ d['items'] }} {{ s[1] }} {{ s[-1] }} {{ u[6] }} {{ nested[1][1][0] }} {{ nested.1.0 }} {{ l['x'] }} {{ d[1] }} {{ l[true] }} {{ s['upper']() }}
{{ d.items }}
{{ l[1:] }} {{ l[:-1] }} {{ l[::-1] }} {{ l[::2] }} {{ s[2:5] }} {{ s[::-1] }} {{ u[6:9] }} {{ s[:100] }} {{ s[5:2] }} {{ (1, 2, 3)[1:] }} {{ l[-2:] }} {{ l[:none] }} {{ s[-3:-1] }} {{ s[::3] }} {{ l[2:0:-1] }} {{ l[10::-1] }} {{ s[1:-1:2] }} {{ l[-100:2] }}
{{ l[::0] }}
{{ l['a':] }}
{{ d[1:] }}
{{ {'a': 1}['a'] }} {{ {'a': {'b': 2}}.a.b }} {{ [1, 2,][1] }} {{ {'a': 1,}|length }}
{{ s.upper() }} {{ s.lower() }} {{ u.upper() }} {{ 'hELLO wORLD'.capitalize() }} {{ "they're bill's".title() }} {{ 'ß'.upper() }}
[{{ ws.strip() }}] [{{ ws.lstrip() }}] [{{ ws.rstrip() }}] {{ 'xxaxx'.strip('x') }} {{ 'abcab'.lstrip('ab') }} {{ 'abcab'.rstrip('ab') }} {{ 'a\n'.rstrip('\n') }}
{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b c'.split(none, 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b c '.rsplit(none, 1) }} {{ 'abc'.split('bc') }} {{ 'a b'.split(maxsplit=0) }} {{ ' a b '.rsplit(maxsplit=0) }} {{ 'a'.split(sep='a') }}
{{ 'a'.split('') }}
{{ lines.splitlines() }} {{ 'a\n'.splitlines(true) }} {{ ''.splitlines() }} {{ 'a\r\nb\rc'.splitlines(true) }}
{{ 'a-b-c'.partition('-') }} {{ 'a-b-c'.rpartition('-') }} {{ 'abc'.partition('-') }} {{ 'abc'.rpartition('-') }}
{{ s.startswith('He') }} {{ s.endswith('x') }} {{ s.startswith(('x', 'H')) }} {{ s.removeprefix('He') }} {{ s.removesuffix('ld') }} {{ s.removeprefix('x') }}
{{ s.replace('l', 'L') }} {{ s.replace('l', '', 1) }} {{ 'ab'.replace('', '-') }} {{ ''.replace('', 'x') }} {{ 'aaa'.replace('aa', 'b') }} {{ 'ab'.replace('', '-', 2) }} {{ '日本'.replace('', '.') }}
{{ s.find('o') }} {{ s.rfind('o') }} {{ s.find('zz') }} {{ s.index('W') }} {{ u.find('日') }} {{ s.count('l') }} {{ 'aaa'.count('') }}
{{ s.index('zz') }}
{{ ', '.join(['a', 'b']) }} {{ ''.join('abc') }} {{ ','.join([]) }}
{{ ','.join([1]) }}
{{ 'a'.center(6) }}| {{ 'ab'.center(5, '*') }} {{ 'a'.ljust(3, '.') }} {{ 'a'.rjust(3) }} {{ '-7'.zfill(4) }} {{ 'ab'.zfill(1) }} {{ 'abc'.center(6, '-') }} {{ 'abcd'.center(7, '-') }}
{{ 'a1'.isalnum() }} {{ 'a1'.isalpha() }} {{ '12'.isdigit() }} {{ ''.isdigit() }} {{ ' \t'.isspace() }} {{ 'Ab'.islower() }} {{ 'AB1'.isupper() }} {{ 'é'.isascii() }} {{ '½'.isnumeric() }} {{ '12'.isdecimal() }}
{{ '{} and {}'.format('a', 1) }} {{ '{1}{0}{x}'.format(1, 2, x=3) }} {{ '{{}}'.format() }}
{{ '{}'.format() }}
{{ d.get('y', default='q') }}
{{ d.get('z') }} {{ d.get('y') }} {{ d.get('y', 5) }} {{ d.keys()|list }} {{ d.values()|list }} {{ d.items()|list }} {{ d.keys()|join(',') }}
{{ l.append(4) }}
{{ d.update({}) }}
{{ d.pop('z') }}
{{ l.index(1) }} {{ l.count(3) }} {{ (1, 2).index(2) }}
{{ s.nomethod() }}
{{ n() }}
{{ none() }}
{{ s|length }} {{ u|length }} {{ l|count }} {{ d|length }} {{ missing|length }} {{ empty|length }}
{{ n|length }}
{{ none|length }}
{{ s|upper }} {{ n|upper }} {{ s|lower }} {{ 'aB c-d (e_f'|title }} {{ 'hELLO'|capitalize }} {{ none|upper }}
[{{ ws|trim }}] {{ 'xax'|trim('x') }} {{ n|trim }} [{{ '  a '|trim }}]
{{ missing|default('x') }} {{ none|default('x') }} {{ none|default('x', true) }} {{ ''|default('x', boolean=true) }} {{ missing|d }}| {{ 0|d(1, true) }} {{ d.nope|default(d.z) }} {{ missing|default(none) }}
{{ l|join }} {{ l|join('-') }} {{ msgs|join(',', attribute='role') }} {{ 'abc'|join('.') }} {{ [none, 1.5, missing]|join('|') }} {{ d|join(',') }}
{{ l|first }} {{ l|last }} {{ s|first }} {{ s|last }} [{{ el|first }}] {{ d|first }} {{ (el|last) is undefined }}
{{ l|sort }} {{ l|sort(reverse=true) }} {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ msgs|sort(attribute='role')|map(attribute='n')|list }} {{ 'cab'|sort }} {{ d|sort }}
{{ [1, 'a']|sort }}
{{ l|reverse|list }} {{ s|reverse }} {{ 'é日'|reverse }}
{{ words|unique|list }} {{ [1, 1.0, 2, true]|unique|list }} {{ ['a', 'A']|unique(true)|list }}
{{ msgs|map(attribute='tags.0')|list }}
{{ msgs|map(attribute='role')|list }} {{ msgs|map(attribute='n', default=0)|list }} {{ words|map('upper')|list }} {{ l|map('string')|join }} {{ words|map('replace', 'a', 'b')|list }} {{ [' a ', 'b']|map('trim')|list }}
{{ words|map('nofilter')|list }}
{{ msgs|selectattr('role', 'equalto', 'user')|list|length }} {{ msgs|rejectattr('role', 'eq', 'user')|map(attribute='n')|list }} {{ msgs|selectattr('content')|list|length }} {{ msgs|selectattr('tags', 'defined')|list|length }} {{ msgs|rejectattr('n', 'undefined')|list|length }} {{ msgs|selectattr('role', 'in', ['user'])|list|length }}
{{ l|select('odd')|list }} {{ l|reject('odd')|list }} {{ [0, 1, '', 'a', none]|select|list }} {{ l|select('gt', 1)|list }} {{ l|select('divisibleby', 2)|list }} {{ [0, 1]|reject|list }}
{{ l|select('notest')|list }}
{{ d|items|list }} {{ missing|items|list }} {{ d|dictsort }} {{ {'b': 1, 'A': 2, 'a': 0}|dictsort }} {{ {'b': 1, 'a': 2}|dictsort(by='value', reverse=true) }} {{ {'b': 1, 'A': 2, 'a': 0}|dictsort(true) }}
{{ 'a\nb\n\nc'|indent }}| {{ 'a\nb'|indent(2, true) }}| {{ 'a\n\nb'|indent(1, blank=true) }}| {{ 'a\nb\n'|indent('> ') }}| {{ ''|indent }}| {{ 'a'|indent(first=true) }}|
{{ '42'|int }} {{ ' 42 '|int }} {{ '4.7'|int }} {{ 'x'|int }} {{ 'x'|int(7) }} {{ 4.9|int }} {{ -4.9|int }} {{ 'ff'|int(0, 16) }} {{ '0x1f'|int(base=16) }} {{ none|int }} {{ true|int }} {{ '101'|int(base=2) }} {{ huge|int }}
{{ '1.5'|float }} {{ 'x'|float }} {{ 2|float }} {{ 'x'|float(1.5) }} {{ '1e3'|float }} {{ none|float }}
{{ -3|abs }} {{ -2.5|abs }} {{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ -2.1|round(method='floor') }} {{ 7|round }} {{ 1234.5678|round(1) }}
{{ 'a'|abs }}
{{ msgs|sum(attribute='zero', start=1) }}
{{ msgs[:2]|sum(attribute='n', start=1) }}
{{ l|sum }} {{ l|max }} {{ l|min }} {{ words|max }} {{ words|min }} [{{ el|max }}] {{ [1.5, 2]|sum }} {{ l|sum(start=10) }}
{{ s|replace('o', '0') }} {{ s|replace('o', '0', 1) }} {{ 11|replace(1, 2) }}
{{ s|list }} {{ d|list }} {{ (1, 2)|list }} {{ missing|list }}
{{ n|list }}
{{ s|string }} {{ n|string + 'x' }} {{ l|string }} {{ none|string }} {{ 1.0|string }}
{{ '<a href="x">\'&'|e }} {{ '<a>'|safe }} {{ n|escape }}
{{ l|batch(2)|list }} {{ l|batch(2, 'x')|list }}
{{ s|wordcount }} {{ 'a b_c d-e'|wordcount }} {{ 'abc'|center(9) }}|
{{ d|attr('z') }}| {{ s|attr('upper') is callable }}
{{ d|tojson }} {{ l|tojson }} {{ s|tojson }} {{ none|tojson }} {{ 1.0|tojson }} {{ tiny|tojson }} {{ q|tojson }} {{ u|tojson }} {{ '<&>\''|tojson }} {{ huge|tojson }} {{ (1, 'a')|tojson }} {{ {1: 2, none: 3, true: 4}|tojson }} {{ '\u2028'|tojson }} {{ 1e16|tojson }} {{ -0.0|tojson }}
{{ d|tojson(indent=2) }} {{ nested|tojson(indent=1) }} {{ []|tojson(indent=2) }} {{ {}|tojson(indent=2) }} {{ {'a': [], 'b': {}}|tojson(2) }} {{ [1]|tojson(indent='\t') }} {{ [1]|tojson(indent=0) }}
{{ d|tojson(sort_keys=true) }} {{ u|tojson(ensure_ascii=true) }} {{ [1, {'a': 2}]|tojson(separators=(',', ':')) }} {{ '\x7f👩'|tojson(true) }}
{{ missing|tojson }}
{{ {'a': missing}|tojson }}
{{ s|nofilter }}
{{ x is defined }} {{ s is defined }} {{ s is not defined }} {{ x is undefined }} {{ none is none }} {{ none is not none }} {{ s is string }} {{ n is number }} {{ f is number }} {{ t is number }} {{ t is boolean }} {{ n is integer }} {{ t is integer }} {{ f is float }} {{ d is mapping }} {{ l is sequence }} {{ s is iterable }} {{ d is iterable }} {{ n is iterable }} {{ d is sequence }} {{ s.upper is callable }} {{ t is true }} {{ 1 is true }} {{ no is false }} {{ x is iterable }} {{ x is sequence }} {{ huge is integer }}
{{ 4 is even }} {{ 3 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 'ab' is lower }} {{ 'AB' is upper }} {{ 1 is eq 1 }} {{ 1 is ne(2) }} {{ 1 is lt 2 }} {{ 2 is ge 2 }} {{ 1 is in [1] }} {{ 'a' is in 'abc' }} {{ none is sameas none }} {{ 2 is greaterthan 1 }} {{ 1 is equalto 1.0 }} {{ 1 is not in [2] }} {{ 'upper' is filter }}
{{ 'a' is even }}
{{ s is notest }}
{{ 1 if s is string and n is number else 2 }} {{ not s is string }} {{ s is string == true }} {{ s is defined or x }}
{% if t %}yes{% endif %}{% if no %}a{% elif n %}b{% else %}c{% endif %}{% if no %}a{% elif none %}b{% else %}c{% endif %}
{% for x in l %}{{ x }}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.depth }},{% endfor %}
{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}{% for x in l %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}
{% for x in [] %}a{% else %}empty{% endfor %}{% for x in l if x > 5 %}a{% else %}none{% endfor %}{% for x in l if x != 1 %}{{ x }}{{ loop.index }}{{ loop.last }}{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% for c in 'añ' %}[{{ c }}]{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for k, v in {'x': 1}|dictsort %}{{ k }}{{ v }}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{% for x in none %}{% endfor %}
{% for x in 5 %}{% endfor %}
{% for x in missing %}a{% else %}b{% endfor %}{% for x in range(3) %}{{ x }}{% endfor %}{% for x in range(5, 1, -2) %}{{ x }}{% endfor %}{{ range(2, 4)|list }}{{ range(0)|list }}
{{ range(1, 2, 0)|list }}
{{ range(10**9) }}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}{% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% for x in l %}{% for y in [1] %}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}{{ loop.index }}{% endfor %}
{% break %}
{% set a = 1 %}{% for x in l %}{% set a = a + x %}{{ a }},{% endfor %}{{ a }}{% if t %}{% set a = 9 %}{% endif %}{{ a }}
{% set ns = namespace(a=1, b='x') %}{% for x in l %}{% set ns.a = ns.a + x %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{% set ns.c = 5 %}{{ ns.c }}{{ ns['a'] }}
{% set ns = namespace({'q': 2}, r=3) %}{{ ns.q }}{{ ns.r }}{{ ns is mapping }}
{% set d.z = 2 %}
{% set missing.z = 2 %}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a, b = b, a %}{{ a }}{{ b }}{% set x = 1, 2 %}{{ x }}{% set (p, q) = [3, 4] %}{{ p }}{{ q }}
{% set a, b = [1] %}
{% set b %}hello {{ n }}{% endset %}{{ b }}|{{ b|length }}{% set c | upper | replace('L', 'x') %}hello{% endset %}{{ c }}
{% set a %}{% set z = 1 %}{% endset %}{{ z }}
{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 2 %}{{ c }}{% endwith %}{{ a }}{{ c }}
{% set a = 5 %}{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% macro m(a, b=2, c=a) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=5, a=4) }}{{ m() }}{{ m(1, c=9) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(x=2) }}
{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}{{ m() }}
{% macro m() %}{{ y }}{% endmacro %}{% set y = 3 %}{{ m() }}{% for y in [7] %}{{ m() }}{% endfor %}
{% macro m() %}{% set y = 1 %}{{ y }}{% endmacro %}{{ m() }}{{ y }}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro m(a) %}<{{ caller() }}{{ a }}>{% endmacro %}{% call m(1) %}body {{ n }}{% endcall %}
{% macro m() %}{{ caller('x', y=2) }}{% endmacro %}{% call(a, y) m() %}{{ a }}{{ y }}{% endcall %}
{% macro m() %}x{% endmacro %}{% call m() %}b{% endcall %}
{% macro m(x) %}{{ x|upper }}{% endmacro %}{{ m('a') ~ m('b') }}{{ m('a')|length }}{{ m('q').lower() }}{{ [m('a')] }}
{% filter upper %}abc {{ s }}{% endfilter %}{% filter replace('a', 'b') | upper %}aaa{% endfilter %}
{% generation %}x{% set zz = 1 %}{% endgeneration %}{{ zz }}
{{ raise_exception('no ' ~ n) }}
{% if no %}{{ raise_exception('x') }}{% endif %}ok
{{ strftime_now('%Y-%m-%d %H:%M:%S %d %b %Y %B %A %a %I %p %j %y %% %-d %-m %e %F %T') }}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set j = joiner('; ') %}{{ j() }}a{{ j() }}b{{ dict(a=1, b=2) }}{{ dict({'x': 1}, y=2) }}{{ dict([('p', 1)]) }}
{# comment #}a{# {{ no }} {% x %} #}b{#- trim -#} c
{% raw %}{{ x }} {% if %} {# c #}{% endraw %}after
  {%- raw -%}  a {{ b }}  {%- endraw -%}  c
a {%- if t %} b {% endif -%} c
a  {{- n -}}  b {{ n }} c {{+ n }} d
{{ n }}
{{ n }}
{{ '}}' }} {{ {'a': {'b': 1}} }} {{ "%}" }} {% if '%}' == '%}' %}ok{% endif %}
{{ n }
{{ n
{% if t %}{% endfor %}
{% unknown %}
{% include 'x' %}
{{ 1 + }}
{{ }}
{{ a b }}
{{ (1 }}
{{ [1 }}
{{ 1) }}
{{ a.1b }}
{{ s|}}
{{ s is }}
{{ @ }}
{{ a ! b }}
{# unclosed
{% raw %} unclosed
{ { a } } {a} {
{{ true }}{{ True }}{{ none }}{{ None }}{{ false }}{{ False }}
{% set true = 1 %}
{{ s.__class__ }}
{{ [1, 2]|map('nope') }}
{{ d.items()|map('first')|list }} {{ d.items()|map(attribute=0)|list }} {{ d.items()|map(attribute='0')|list }}
{{ (n > 5) == t }} {{ (msgs[0].role == 'user') != (loop_index % 2 == 0 if loop_index is defined else false) }}
{{ msgs[-1].content == '' }} {{ msgs[1]['content'] }} {{ msgs|length - 1 }} {{ (msgs|length) - 1 }} {{ msgs[0]['role']|upper|lower|title }} {{ -n|abs }} {{ (-n)|abs }}
{{ n if n is defined }} {{ 'y' * 3 }} {{ '%d' }} {{ 5 % 3 }}
{{ '%s' % 'a' }}
{{ 'a' if 'b' in 'abc' and not 'z' in 'abc' }} {{ not 'z' in 'abc' }} {{ 'z' not in 'abc' and 'a' in 'abc' }}
{{ [1, 2, 3][1:][0] }} {{ 'abc'[1:].upper()[0] }} {{ ('a', 'b')[1] }} {{ {'a': [1, {'b': 'c'}]}.a[1].b }} {{ [[1]][0][0] }}
{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }}
{{ 0.1 + 0.2 }} {{ 1e22 }} {{ 1.5e300 }} {{ 123456789.123456789 }} {{ 1e-5 }} {{ 0.0001 }} {{ 1e15 }} {{ 100.0 }} {{ -0.0 }}
{{ msgs }}
{{ l is in [[3, 1, 2]] }} {{ [l, 1]|tojson }} {{ l|join(', ') ~ '!' }}
{{ lorem }}{{ self is defined }}
{{ "a" if x is defined else "b" }}{{ x|default("c") if x is defined else "d" }}
{%set x=1%}{{x}}{%if x%}y{%endif%}
{{ 'a' == 'a' == 'a' }} {{ 1 in [1] in [[1]] }}
{{ none ~ '' }}{{ '' ~ none }}
{% if missing %}a{% endif %}{% if not missing %}b{% endif %}{% if missing is defined and missing.x %}c{% endif %}
{% raw %}
{% if t %}unclosed
{% endif %}
{% if t %}a{% else %}b{% elif n %}c{% endif %}
{% for x in l recursive %}{{ x }}{% endfor %}
{% block b %}x{% endblock %}
{% set x %}a
{{ l|map('int')|sum }} {{ ['1', 'b']|map('int', 9)|list }} {{ words|map('default', 'q')|list }}
{{ msgs|map(attribute='content')|join(' ')|replace('&', 'and')|upper }}
{{ [3, none, 1]|map('string')|sort|join }}
{{ {'b': [1, {'c': none}]}|string }} {{ [true, 1.0, 'x']|string|length }}
{{ 'a' in ['a', 'b'] and 'c' not in ['a', 'b'] or missing }}
{% for x in [1, 2, 3] %}{% set last = x %}{% if loop.last %}{{ last }}{% endif %}{% endfor %}{{ last is defined }}
{% for x in 'ab' %}{% for y in x %}{{ loop.index }}{{ y }}{% endfor %}{% else %}z{% endfor %}
{% set q = msgs|selectattr('role', 'equalto', 'user')|list %}{{ q[-1].tags|join }}{{ (q|last).role }}{{ q[0] == msgs[0] }}
{{ 'x'.join(msgs|map(attribute='role')) }}
{{ ('a' ~ 'b').upper() }}{{ ('%' ~ 1)|length }}
{{ s[:5] ~ '...' if s|length > 5 else s }}
{{ '' if none else 'n' }}{{ 1 if [] else 2 }}{{ 1 if {} else 2 }}{{ 1 if 0.0 else 2 }}{{ 1 if ' ' else 2 }}
{{ 'a\\b' }}{{ 'a\'b' }}{{ "a\"b" }}{{ '\u00e9\x41\101\q' }}
{{ 1if t else 2 }}{{ 1 if t else2 }}
{{ t.x is defined }}{{ n.x is defined }}{{ none.x is none }}
{{ d['a'].upper() }}{{ d.a[0] }}{{ d['a'][::-1] }}
{{ dict(a=1).a }}{{ dict(items=2)['items'] }}{{ namespace(x=1).x }}
{{ [1,2]|first + 3 }}{{ 2 + 3|string|length }}{{ -1|abs }}{{ 2 ** 3|int }}
{{ missing|default('d')|upper }}{{ missing.a|default('x') }}
"""

def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(lineno)

    def _render(self, caller):
        return caller()


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return env


def templates():
    here = pathlib.Path(__file__).parent
    for line in TEMPLATES.strip("\n").split("\n"):
        yield line
    for path in sorted(here.glob("*.jinja")):
        yield path.read_bytes().decode()


def main():
    env, cases = environment(), []
    for source in templates():
        case = {"template": source}
        try:
            case["text"] = env.from_string(source).render(**VARS)
        except Exception as e:
            case["error"] = f"{type(e).__name__}: {e}"
        cases.append(case)
    out = {"source": f"jinja2 {jinja2.__version__}, make.py", "vars": VARS, "cases": cases}
    path = pathlib.Path(__file__).parent / "vectors.json"
    path.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")
    print(len(cases), "cases,", sum("error" in c for c in cases), "of them errors")


main()
