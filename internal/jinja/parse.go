package jinja

import (
	"fmt"
	"slices"
)

const (
	// maxSource bounds a template; real ones hold up to some 25 kB.
	maxSource = 256 << 10
	// maxNesting bounds the nesting of blocks and expressions in each other.
	maxNesting = 100
)

// A Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	body  []node
	names map[string]bool
}

// Parse parses a template. Errors wrap ErrSyntax, or ErrLimit for one that is
// too long or nested too deep, and give the line.
func Parse(source string) (*Template, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%w: %d bytes of source, at most %d", ErrLimit, len(source), maxSource)
	}
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, names: map[string]bool{}}
	var body []node
	err = p.catch(func() {
		body, _ = p.statements()
		if p.peek().kind != tokEOF {
			p.failf("unexpected %v", p.peek())
		}
	})
	if err != nil {
		return nil, err
	}
	return &Template{body: body, names: p.names}, nil
}

// Mentions reports whether the template refers to a variable of that name.
func (t *Template) Mentions(name string) bool { return t.names[name] }

// A parser follows Jinja2's (parser.py). A failed rule leaves by panic, which
// Parse turns into an error.
type parser struct {
	tokens []token
	pos    int
	depth  int
	names  map[string]bool // every name that is read
	macros []*macro        // open macros, for what their bodies refer to
	loops  int             // open loops of the innermost macro
}

type syntaxError struct{ err error }

func (p *parser) catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *syntaxError:
			err = r.err
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func (p *parser) failf(format string, args ...any) {
	panic(&syntaxError{fmt.Errorf("%w: line %d: %s", ErrSyntax, p.peek().line, fmt.Sprintf(format, args...))})
}

// enter counts one more level of nesting; defer the function it returns.
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxNesting {
		panic(&syntaxError{fmt.Errorf("%w: line %d: nested deeper than %d", ErrLimit, p.peek().line, maxNesting)})
	}
	return func() { p.depth-- }
}

func (p *parser) peek() token { return p.tokens[p.pos] }

func (p *parser) next() token {
	t := p.tokens[p.pos]
	if t.kind != tokEOF {
		p.pos++
	}
	return t
}

func (p *parser) isOp(op string) bool { return p.peek().kind == tokOp && p.peek().text == op }

func (p *parser) isName(name string) bool { return p.peek().kind == tokName && p.peek().text == name }

// at reports whether the token after the next is this name.
func (p *parser) thenName(name string) bool {
	t := p.tokens[min(p.pos+1, len(p.tokens)-1)]
	return t.kind == tokName && t.text == name
}

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) wantOp(op string) {
	if !p.skipOp(op) {
		p.failf("want %q, found %v", op, p.peek())
	}
}

func (p *parser) wantName(what string) string {
	if p.peek().kind != tokName {
		p.failf("want %s, found %v", what, p.peek())
	}
	return p.next().text
}

func (p *parser) wantKind(kind tokenKind, what string) {
	if p.next().kind != kind {
		p.pos--
		p.failf("want %s, found %v", what, p.peek())
	}
}

// statements parses up to a block tag whose name is among ends, and consumes
// that name (not the rest of the tag). Without ends it parses to the end.
func (p *parser) statements(ends ...string) (body []node, end string) {
	defer p.enter()()
	for {
		t := p.peek()
		switch t.kind {
		case tokData:
			p.next()
			body = append(body, node{&dataNode{t.text}, t.line})
		case tokVarBegin:
			p.next()
			x := p.tuple(true)
			p.wantKind(tokVarEnd, "}}")
			body = append(body, node{&outNode{x}, t.line})
		case tokBlockBegin:
			p.next()
			if name := p.peek(); name.kind == tokName && slices.Contains(ends, name.text) {
				p.next()
				return body, name.text
			}
			body = append(body, node{p.statement(), t.line})
			p.wantKind(tokBlockEnd, "%}")
		default:
			if len(ends) > 0 {
				p.failf("want %q, found %v", ends, t)
			}
			return body, ""
		}
	}
}

// block parses the end of a tag and the statements up to one of ends.
func (p *parser) block(ends ...string) (body []node, end string) {
	p.wantKind(tokBlockEnd, "%}")
	return p.statements(ends...)
}

func (p *parser) statement() any {
	if p.peek().kind != tokName {
		p.failf("want the name of a statement, found %v", p.peek())
	}
	switch name := p.next().text; name {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement()
	case "set":
		return p.setStatement()
	case "with":
		return p.withStatement()
	case "macro":
		m := &macro{name: p.wantName("the name of a macro")}
		p.signature(m)
		p.macroBody(m, "endmacro")
		return &macroNode{m}
	case "call":
		m := &macro{name: "caller"}
		if p.isOp("(") {
			p.signature(m)
		}
		call, ok := p.expression().(*callExpr)
		if !ok {
			p.failf("want a call")
		}
		p.macroBody(m, "endcall")
		return &callNode{call, m}
	case "filter":
		n := &filterNode{filters: p.filterChain(true)}
		n.body, _ = p.block("endfilter")
		return n
	case "generation":
		body, _ := p.block("endgeneration")
		return &scopeNode{body}
	case "break", "continue":
		if p.loops == 0 {
			p.failf("%s outside a loop", name)
		}
		if name == "break" {
			return &breakNode{}
		}
		return &continueNode{}
	default:
		p.pos--
		p.failf("the statement %q is not supported", name)
		return nil
	}
}

func (p *parser) ifStatement() any {
	n := &ifNode{}
	for {
		b := branch{cond: p.tuple(false)}
		var end string
		b.body, end = p.block("elif", "else", "endif")
		n.branches = append(n.branches, b)
		switch end {
		case "else":
			n.orElse, _ = p.block("endif")
			return n
		case "endif":
			return n
		}
	}
}

func (p *parser) forStatement() any {
	n := &forNode{target: p.target(false)}
	if !p.skipName("in") {
		p.failf("want \"in\", found %v", p.peek())
	}
	n.iter = p.tuple(false)
	if p.skipName("if") {
		n.cond = p.expression()
	}
	if p.isName("recursive") {
		p.failf("recursive loops are not supported")
	}
	p.loops++
	var end string
	n.body, end = p.block("endfor", "else")
	p.loops--
	if end == "else" {
		n.orElse, _ = p.block("endfor")
	}
	return n
}

func (p *parser) setStatement() any {
	t := p.target(true)
	if p.skipOp("=") {
		return &setNode{t, p.tuple(true)}
	}
	n := &setBlockNode{target: t, filters: p.filterChain(false)}
	n.body, _ = p.block("endset")
	return n
}

func (p *parser) withStatement() any {
	n := &withNode{}
	for p.peek().kind != tokBlockEnd {
		if len(n.targets) > 0 {
			p.wantOp(",")
		}
		n.targets = append(n.targets, p.target(false))
		p.wantOp("=")
		n.values = append(n.values, p.expression())
	}
	n.body, _ = p.block("endwith")
	return n
}

// target parses what is assigned to: a name, names with commas between, or,
// where allowed, an attribute of a namespace.
func (p *parser) target(namespace bool) target {
	defer p.enter()()
	one := func() target {
		if p.skipOp("(") {
			t := p.target(false)
			p.wantOp(")")
			return t
		}
		t := target{name: p.wantName("a name")}
		switch t.name {
		case "true", "false", "none", "True", "False", "None":
			p.pos--
			p.failf("cannot assign to %q", t.name)
		}
		if namespace && p.skipOp(".") {
			t.attr = p.wantName("an attribute")
			p.names[t.name] = true
		}
		return t
	}
	t := one()
	if !p.isOp(",") {
		return t
	}
	t = target{tuple: []target{t}}
	for p.skipOp(",") {
		if p.peek().kind != tokName && !p.isOp("(") || p.isName("in") {
			break
		}
		t.tuple = append(t.tuple, one())
	}
	return t
}

// signature parses the parameters of a macro.
func (p *parser) signature(m *macro) {
	p.wantOp("(")
	for !p.isOp(")") {
		if len(m.params) > 0 {
			p.wantOp(",")
		}
		m.params = append(m.params, p.wantName("a parameter"))
		if p.skipOp("=") {
			m.defaults = append(m.defaults, p.expression())
		} else if len(m.defaults) > 0 {
			p.failf("a parameter without default after one with")
		}
	}
	p.wantOp(")")
}

func (p *parser) macroBody(m *macro, end string) {
	loops := p.loops
	p.loops = 0
	p.macros = append(p.macros, m)
	m.body, _ = p.block(end)
	p.macros = p.macros[:len(p.macros)-1]
	p.loops = loops
}
