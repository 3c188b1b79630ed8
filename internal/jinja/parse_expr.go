package jinja

// tuple parses an expression, or several with commas between.
func (p *parser) tuple(conditional bool) expr {
	one := p.expression
	if !conditional {
		one = p.or
	}
	x := one()
	if !p.isOp(",") {
		return x
	}
	list := &listExpr{items: []expr{x}, tuple: true}
	for p.skipOp(",") {
		if p.tupleEnds() {
			break
		}
		list.items = append(list.items, one())
	}
	return list
}

func (p *parser) tupleEnds() bool {
	switch p.peek().kind {
	case tokVarEnd, tokBlockEnd, tokEOF:
		return true
	}
	return p.isOp(")") || p.isName("in")
}

// expression parses conditional expressions and all that bind tighter.
func (p *parser) expression() expr {
	defer p.enter()()
	x := p.or()
	for p.skipName("if") {
		c := &condExpr{then: x, cond: p.or()}
		if p.skipName("else") {
			c.orElse = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.skipName("or") {
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.skipName("and") {
		x = &andExpr{x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.skipName("not") {
		defer p.enter()()
		return &notExpr{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	c := &compareExpr{first: p.sum()}
	for {
		var op string
		switch t := p.peek(); {
		case t.kind == tokOp && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == "<=" || t.text == ">" || t.text == ">="):
			op = p.next().text
		case p.skipName("in"):
			op = "in"
		case p.isName("not") && p.thenName("in"):
			p.pos += 2
			op = "not in"
		case len(c.ops) == 0:
			return c.first
		default:
			return c
		}
		c.ops = append(c.ops, comparison{op, p.sum()})
	}
}

func (p *parser) sum() expr {
	x := p.concat()
	for p.isOp("+") || p.isOp("-") {
		x = &binaryExpr{p.next().text, x, p.concat()}
	}
	return x
}

// concat parses ~, which binds tighter than + in Jinja2.
func (p *parser) concat() expr {
	x := p.product()
	if !p.isOp("~") {
		return x
	}
	c := &concatExpr{parts: []expr{x}}
	for p.skipOp("~") {
		c.parts = append(c.parts, p.product())
	}
	return c
}

func (p *parser) product() expr {
	x := p.power()
	for p.isOp("*") || p.isOp("/") || p.isOp("//") || p.isOp("%") {
		x = &binaryExpr{p.next().text, x, p.power()}
	}
	return x
}

func (p *parser) power() expr {
	x := p.unary(true)
	for p.isOp("**") {
		x = &binaryExpr{p.next().text, x, p.unary(true)}
	}
	return x
}

func (p *parser) unary(filters bool) expr {
	var x expr
	switch {
	case p.isOp("-") || p.isOp("+"):
		defer p.enter()()
		plus := p.next().text == "+"
		x = &negExpr{p.unary(false), plus}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	if filters {
		x = p.filtered(x)
	}
	return x
}

func (p *parser) primary() expr {
	switch t := p.peek(); {
	case t.kind == tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constExpr{true}
		case "false", "False":
			return &constExpr{false}
		case "none", "None":
			return &constExpr{nil}
		}
		p.mention(t.text)
		return &nameExpr{t.text}
	case t.kind == tokString:
		s := p.next().text
		for p.peek().kind == tokString { // adjacent strings are one
			s += p.next().text
		}
		return &constExpr{written(s)}
	case t.kind == tokInt:
		p.next()
		return &constExpr{t.i}
	case t.kind == tokFloat:
		p.next()
		return &constExpr{t.f}
	case p.skipOp("("):
		if p.skipOp(")") {
			return &listExpr{tuple: true}
		}
		defer p.enter()()
		x := p.tuple(true)
		p.wantOp(")")
		return x
	case p.skipOp("["):
		defer p.enter()()
		list := &listExpr{}
		for !p.skipOp("]") {
			if len(list.items) > 0 {
				p.wantOp(",")
				if p.skipOp("]") {
					break
				}
			}
			list.items = append(list.items, p.expression())
		}
		return list
	case p.skipOp("{"):
		defer p.enter()()
		d := &dictExpr{}
		for !p.skipOp("}") {
			if len(d.keys) > 0 {
				p.wantOp(",")
				if p.skipOp("}") {
					break
				}
			}
			d.keys = append(d.keys, p.expression())
			p.wantOp(":")
			d.values = append(d.values, p.expression())
		}
		return d
	}
	p.failf("want an expression, found %v", p.peek())
	return nil
}

// mention notes that a name is read.
func (p *parser) mention(name string) {
	p.names[name] = true
	for _, m := range p.macros {
		switch name {
		case "varargs":
			m.varargs = true
		case "kwargs":
			m.kwargs = true
		case "caller":
			m.caller = true
		}
	}
}

func (p *parser) postfix(x expr) expr {
	for {
		switch {
		case p.skipOp("."):
			switch t := p.next(); t.kind {
			case tokName:
				x = &attrExpr{x, t.text}
			case tokInt:
				x = &itemExpr{x, &constExpr{t.i}}
			default:
				p.pos--
				p.failf("want an attribute, found %v", p.peek())
			}
		case p.skipOp("["):
			x = p.subscript(x)
		case p.isOp("("):
			x = p.call(x)
		default:
			return x
		}
	}
}

func (p *parser) subscript(x expr) expr {
	defer p.enter()()
	s := &sliceExpr{x: x}
	if !p.isOp(":") {
		key := p.expression()
		if p.skipOp("]") {
			return &itemExpr{x, key}
		}
		s.start = key
	}
	p.wantOp(":")
	part := func() expr {
		if p.isOp(":") || p.isOp("]") {
			return nil
		}
		return p.expression()
	}
	s.stop = part()
	if p.skipOp(":") {
		s.step = part()
	}
	p.wantOp("]")
	return s
}

func (p *parser) call(fn expr) expr {
	line := p.peek().line
	return &callExpr{fn, p.callArgs(), line}
}

func (p *parser) callArgs() callArgs {
	defer p.enter()()
	var a callArgs
	p.wantOp("(")
	for first := true; !p.isOp(")"); first = false {
		if !first {
			p.wantOp(",")
			if p.isOp(")") {
				break
			}
		}
		switch next := p.tokens[min(p.pos+1, len(p.tokens)-1)]; {
		case a.starStar != nil:
			p.failf("an argument after **")
		case p.skipOp("**"):
			a.starStar = p.expression()
		case p.peek().kind == tokName && next.kind == tokOp && next.text == "=":
			name := p.next().text
			p.next()
			a.kwargs = append(a.kwargs, namedExpr{name, p.expression()})
		case a.star != nil || len(a.kwargs) > 0:
			p.failf("a positional argument after others")
		case p.skipOp("*"):
			a.star = p.expression()
		default:
			a.args = append(a.args, p.expression())
		}
	}
	p.wantOp(")")
	return a
}

// filtered parses filters, tests and calls after an expression.
func (p *parser) filtered(x expr) expr {
	for {
		switch {
		case p.skipOp("|"):
			x = p.filter(x)
		case p.isName("is"):
			x = p.test(x)
		case p.isOp("("):
			x = p.call(x)
		default:
			return x
		}
	}
}

func (p *parser) filter(x expr) *filterExpr {
	f := &filterExpr{x: x, line: p.peek().line, name: p.wantName("the name of a filter")}
	if p.isOp("(") {
		f.args = p.callArgs()
	}
	return f
}

// filterChain parses the filters of a block tag; inline means that the first
// has no bar before it.
func (p *parser) filterChain(inline bool) []*filterExpr {
	var chain []*filterExpr
	for inline || p.skipOp("|") {
		inline = false
		chain = append(chain, p.filter(nil))
	}
	return chain
}

func (p *parser) test(x expr) expr {
	t := &testExpr{x: x, line: p.next().line}
	t.negated = p.skipName("not")
	t.name = p.wantName("the name of a test")
	switch next := p.peek(); {
	case p.isOp("("):
		t.args = p.callArgs()
	case next.kind == tokName && next.text == "is":
		p.failf("tests cannot follow each other")
	case next.kind == tokName && (next.text == "else" || next.text == "or" || next.text == "and"):
	case next.kind == tokName || next.kind == tokString || next.kind == tokInt || next.kind == tokFloat || p.isOp("[") || p.isOp("{"):
		t.args.args = []expr{p.postfix(p.primary())}
	}
	return t
}
