package tasks

import "strings"

// ways says by which rules something is asked for: as an imperative, as a
// question, and after "tell me". Kinds that have formulas have none here.
var ways = map[Kind]map[Want][3]string{
	Read:      {Size: {"iSize", "qSize", "howBig"}, FirstLine: {"iFirst", "qFirst", "howFirst"}, Content: {"iWhole", "qWhole", "howWhole"}},
	List:      {Count: {"iCount", "qCount", "howMany"}, Names: {"iNames", "qNames", "howNames"}},
	Compute:   {Result: {"iCompute", "qCompute", "howCompute"}},
	Write:     {Result: {"iWrite"}},
	ReadWrite: {Content: {"iCopy"}, Size: {"iCopySize"}, FirstLine: {"iCopyFirst"}},
}

// template makes up a phrasing of the training set.
func (r random) template(k Kind, w Want) Phrasing {
	p := Phrasing{Kind: k, Want: w}
	switch k {
	case Compute:
		r.computeTemplate(&p)
	case ReadCompute:
		r.fileTemplate(&p)
	default:
		p.Text = r.request(ways[k][w], nouns[k][w])
	}
	p.Text = r.spoil(p.Text)
	if r.chance(0.10) {
		p.Text = r.noise(p.Text)
	}
	return p
}

// request makes a request by the rules for its forms.
func (r random) request(way [3]string, noun string) string {
	x := r.Float64()
	switch {
	case way[1] == "" || x < 0.52:
		return r.imperative(r.expand("<" + way[0] + ">"))
	case x < 0.66:
		return r.noun(noun)
	case x < 0.86:
		return r.question(r.expand("<" + way[1] + ">"))
	}
	return r.imperative(r.expand("<know>[ | | | |: ]<" + way[2] + ">"))
}

func (r random) imperative(text string) string {
	pre, post := r.expand("<pre>"), r.expand("<post>")
	if strings.HasPrefix(text, "{") && r.chance(0.8) {
		pre = ""
	}
	if r.chance(0.06) {
		if g, ok := r.gerund(text); ok {
			pre, text = "", g
		}
	}
	if r.chance(0.06) {
		post = r.expand("<why>[||.]")
	}
	if strings.HasSuffix(text, "{text}") { // where it ends could not be known
		post = pick(r, "", "", "", "", "", "", "", "", ".")
	}
	return r.capital(pre + text + post)
}

func (r random) question(text string) string {
	return r.capital(r.expand("<qpre>") + text + r.expand("<qpost>"))
}

// capital begins half of the texts with a capital letter.
func (r random) capital(text string) string {
	if r.chance(0.5) {
		return title(text)
	}
	return text
}

// computeTemplate makes a phrasing with {expr} or with a formula.
func (r random) computeTemplate(p *Phrasing) {
	x := r.Float64()
	switch {
	case x < 0.45:
		p.Text = r.request(ways[Compute][Result], "valueOf")
	case x < 0.75:
		f := pick(r, valueWords...)
		p.Text, p.Expr = strings.Replace(r.request(ways[Compute][Result], "valueOf"), "{expr}", f.text, 1), f.expr
	default:
		f := pick(r, valueImperatives...)
		p.Text, p.Expr = r.imperative(f.text+r.tell()), f.expr
		if r.chance(0.15) {
			p.Text = r.question(pick(r, "what do you get if you ", "what do you get when you ", "what is the result if you ", "what comes out if I ", "what happens if you ", "how much is it if you ", "what remains if you ", "can you ") + f.text)
		}
	}
}

// tell asks for the result, or leaves that out.
func (r random) tell() string {
	if r.chance(0.55) {
		return ""
	}
	return r.expand("<J>[<RP>|<RP>|give|what is] [the result|the result|the answer|the value|what you get|the outcome|the total|what comes out|the new number|the exact result|the number|only the result]")
}

// fileTemplate makes a phrasing about the number in a file.
func (r random) fileTemplate(p *Phrasing) {
	if r.chance(0.3) {
		r.likeNumbers(p)
		return
	}
	if r.chance(0.5) {
		f := pick(r, fileValues...)
		p.Text, p.Expr = strings.Replace(r.request(ways[Compute][Result], "valueOf"), "{expr}", r.expand(f.text), 1), f.expr
		return
	}
	f := pick(r, fileImperatives...)
	p.Text, p.Expr = r.imperative(r.expand(f.text)+r.tell()), f.expr
	if r.chance(0.1) {
		p.Text = r.question(pick(r, "what do you get if you ", "what do you get when you ", "what is the result if you ", "what comes out if you ", "how much is it if you ") + r.expand(f.text))
	}
}

// likeNumbers makes a phrasing about the number in a file of one about two
// numbers, of which it is the first or the second.
func (r random) likeNumbers(p *Phrasing) {
	list := pick(r, valueWords, valueImperatives)
	f := pick(r, list...)
	for strings.Contains(f.text, "{c}") || strings.Contains(f.text, "{p}") || strings.Contains(f.text, "{s}") {
		f = pick(r, list...)
	}
	number := r.expand("<N>")
	if i := strings.IndexAny(f.expr, "+-*/%"); r.chance(0.3) && i >= 0 && f.expr[i] != '%' && strings.Contains(f.text, "{b}") {
		p.Text = strings.NewReplacer("{a}", "{n}", "{b}", number).Replace(f.text)
		p.Expr = substitute(f.expr, map[byte]string{'a': "n", 'b': "x"})
	} else {
		p.Text = strings.NewReplacer("{a}", number, "{b}", "{n}").Replace(f.text)
		p.Expr = substitute(f.expr, map[byte]string{'a': "x", 'b': "n"})
	}
	if &list[0] == &valueImperatives[0] {
		p.Text = r.imperative(p.Text + r.tell())
	} else {
		p.Text = strings.Replace(r.request(ways[Compute][Result], "valueOf"), "{expr}", p.Text, 1)
	}
}

// spoil makes some of the texts as careless as users are.
func (r random) spoil(text string) string {
	x := r.Float64()
	switch {
	case x < 0.03:
		return r.typo(text)
	case x < 0.04:
		return outside(text, strings.ToUpper)
	case x < 0.055:
		return outside(text, strings.ToLower)
	case x > 0.5:
		return sentences(text)
	case x < 0.065:
		return outside(text, func(s string) string { return strings.ReplaceAll(s, ",", "") })
	case x < 0.075:
		return pick(r, "I am cleaning up. ", "This is for my boss. ", "Good morning. ", "We are testing. ", "It is urgent. ", "I forgot something. ", "Thanks for helping. ", "Hello! ", "Listen. ", "I am busy. ", "Here we go. ", "One more thing. ") + text
	}
	return text
}

// noise puts words between those of a text, which mean nothing, or leaves out
// one that does not matter, so that words that were never seen do no harm.
func (r random) noise(text string) string {
	fields := strings.Split(text, " ")
	bare := -1 // where a text without quotes is: words beside it would be its own
	for i, f := range fields {
		if strings.HasPrefix(f, "{text}") || strings.HasPrefix(f, "{a}") || strings.HasPrefix(f, "{b}") || strings.HasPrefix(f, "{expr}") {
			if bare = i; strings.HasPrefix(f, "{text}") {
				break
			}
		}
	}
	if r.chance(0.35) {
		for range 6 {
			i := r.IntN(len(fields))
			switch fields[i] {
			case "the", "a", "its", "file", "folder", "please", "directory", "me", "is", "that", "and", "then":
				return strings.Join(append(fields[:i:i], fields[i+1:]...), " ")
			}
		}
	}
	for range pick(r, 1, 1, 1, 2, 3) {
		at := r.IntN(len(fields) + 1)
		if bare >= 0 {
			at = r.IntN(bare + 1)
			if at == bare && at > 0 {
				at--
			}
			if strings.HasPrefix(fields[0], "{") {
				continue
			}
			bare++
		}
		word := pick(r, words...)
		if r.chance(0.3) {
			word = r.syllables()
		}
		if r.chance(0.2) {
			word += ","
		}
		fields = append(fields[:at:at], append([]string{word}, fields[at:]...)...)
	}
	return strings.Join(fields, " ")
}

// sentences begins sentences with capital letters.
func sentences(text string) string {
	b := []byte(text)
	for i := 2; i < len(b); i++ {
		if b[i-1] == ' ' && (b[i-2] == '.' || b[i-2] == '?') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// outside changes what is outside of placeholders.
func outside(text string, change func(string) string) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			i = len(text)
		}
		b.WriteString(change(text[:i]))
		text = text[i:]
		end := strings.IndexByte(text, '}') + 1
		b.WriteString(text[:end])
		text = text[end:]
	}
	return b.String()
}

// typo changes one letter.
func (r random) typo(text string) string {
	done := false
	return outside(text, func(s string) string {
		if done || len(s) < 6 {
			return s
		}
		i := r.IntN(len(s) - 2)
		if !isLetter(s[i]) || !isLetter(s[i+1]) {
			return s
		}
		done = true
		switch r.IntN(3) {
		case 0:
			return s[:i] + s[i+1:]
		case 1:
			return s[:i] + s[i:i+1] + s[i:]
		}
		return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
	})
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
