package tasks

import (
	"slices"
	"strings"
)

// placed writes a file's path into a text, now and then as name and folder.
func (m maker) placed(text, placeholder, p string) string {
	i := strings.LastIndex(p, "/")
	at := strings.Index(text, placeholder)
	if m.rich && i > 0 && at >= 0 && m.chance(0.08) {
		end := at + len(placeholder)
		if (at == 0 || text[at-1] == ' ') && (end == len(text) || strings.IndexByte(" .,?!;", text[end]) >= 0) {
			p = p[i+1:] + pick(m.random, " in the folder ", " in the directory ", " in ", " inside ", " from the folder ", " of the folder ", " in folder ", " from ") + p[:i]
		}
	}
	return strings.Replace(text, placeholder, p, 1)
}

// missing is true for the tasks whose file or folder is not there.
func (m maker) missing() bool { return m.rich && m.chance(0.035) }

// text returns the content of a file that is read, with a first line.
func (m maker) text(whole bool) string {
	if m.rich && (!whole && m.chance(0.06) || m.chance(0.015)) {
		return m.large()
	}
	if m.rich && m.chance(0.01) {
		return ""
	}
	s := m.content(5, 8)
	for !m.rich && len(s) > 300 { // a result that is cut is another matter
		s = m.content(5, 8)
	}
	if !whole || !m.rich {
		s = strings.TrimLeft(s, "\n \t")
	}
	for _, line := range strings.Split(s, "\n") {
		if !m.rich && len(line) > 150 {
			return m.text(whole)
		}
	}
	return s
}

func truncated(result string) bool { return strings.Contains(head(result), "truncated") }

// sizeIn returns what a result says of the size: "37 bytes".
func sizeIn(result string) string {
	h, _, _ := strings.Cut(head(result), ",")
	return h
}

// wanted returns what is wanted of the result of read_file.
func wanted(w Want, result string) string {
	switch {
	case w == Size:
		return sizeIn(result)
	case rest(result) == "", w == Content && truncated(result):
		return head(result)
	case w == FirstLine:
		return head(rest(result))
	}
	return rest(result)
}

func (m maker) read(t *Task, p Phrasing) {
	file, content := m.filePath(), m.text(p.Want == Content)
	t.Text = m.placed(p.Text, "{file}", file)
	if !m.missing() {
		t.add(file, content)
	}
	t.next = func(results []string) call {
		if len(results) == 0 {
			return call{"read_file", []string{"path", file}}
		}
		if failed(results[0]) {
			return done(results[0])
		}
		return done(wanted(p.Want, results[0]))
	}
	t.answer = func(a string) bool { return answers(p.Want, a, content) }
}

func (m maker) list(t *Task, p Phrasing) {
	dir := m.folderPath()
	t.Text = strings.Replace(p.Text, "{dir}", dir, 1)
	t.entries(m, dir, p.Want)
}

// entries makes the folder and the plan to list it.
func (t *Task) entries(m maker, dir string, w Want) {
	n := pick(m.random, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 12)
	if w == Names {
		n = min(n, 8)
	} else if m.rich && m.chance(0.04) {
		n = m.between(20, 110)
	}
	var names []string
	for range n {
		name := m.file()
		folder := m.chance(0.2)
		if folder {
			name = strings.TrimLeft(m.name(), ".")
		}
		if name == "" || slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(strings.TrimSuffix(s, "/"), name) }) {
			continue
		}
		if p := clean(dir + "/" + name); folder {
			t.Folders = append(t.Folders, p)
			name += "/"
		} else {
			t.add(p, m.word())
		}
		names = append(names, name)
	}
	if !m.missing() || clean(dir) == "" {
		t.Folders = append(t.Folders, clean(dir))
	} else {
		t.Files, t.Folders = nil, nil
	}
	slices.Sort(names)
	t.next = func(results []string) call {
		if len(results) == 0 {
			return call{"list_dir", []string{"path", dir}}
		}
		r := results[0]
		if w == Names && !failed(r) && rest(r) != "" {
			return done(rest(r))
		}
		if failed(r) {
			return done(r)
		}
		return done(sizeIn(r))
	}
	t.answer = func(a string) bool {
		if w == Count {
			return saysNumber(a, len(names))
		}
		return saysNames(a, names)
	}
}

// expressionOf fills a phrasing about numbers.
func (m maker) compute(t *Task, p Phrasing) {
	expr := m.expression()
	t.Text = strings.Replace(p.Text, "{expr}", expr, 1)
	if p.Expr != "" {
		text, digits := m.values(p.Expr)
		t.Text = variables(p.Text, text)
		expr = substitute(p.Expr, digits)
	}
	t.next = func(results []string) call {
		if len(results) == 0 {
			return call{"compute", []string{"expression", expr}}
		}
		return done(results[0])
	}
	t.answer = func(a string) bool { return saysValue(a, expr) }
}

// variables writes values into a text.
func variables(text string, values map[byte]string) string {
	for c, v := range values {
		text = strings.ReplaceAll(text, "{"+string(c)+"}", v)
	}
	return text
}

func (m maker) write(t *Task, p Phrasing) {
	file := m.filePath()
	content := m.plainText()
	if at := strings.Index(p.Text, "{text}"); m.rich && at > 0 && strings.IndexByte("\"'`", p.Text[at-1]) >= 0 {
		content = m.quoted(p.Text[at-1])
	} else if m.rich && m.chance(0.03) {
		content = strings.TrimRight(strings.TrimSpace(m.line(6)), ".!?:;,")
	}
	t.Text = strings.Replace(m.placed(p.Text, "{file}", file), "{text}", content, 1)
	if m.chance(0.15) {
		t.add(file, m.line(5))
	}
	t.writes(file, content, func(results []string) string { return content })
}

// quoted returns a line to be put into quotes of the given kind.
func (m maker) quoted(mark byte) string {
	for {
		s := m.plainText()
		if m.chance(0.3) {
			s = strings.TrimSpace(m.line(7))
		}
		if m.chance(0.2) {
			s += pick(m.random, ".", ".", "!", "?")
		}
		if s != "" && strings.IndexByte(s, mark) < 0 {
			return s
		}
	}
}

// writes plans a call of write_file, after what results there are, and done.
func (t *Task) writes(file, want string, content func(results []string) string) {
	before := t.next
	steps := 0
	if before != nil {
		steps = 1
	}
	t.next = func(results []string) call {
		switch {
		case len(results) < steps:
			return before(results)
		case len(results) > 0 && failed(results[len(results)-1]):
			return done(results[len(results)-1])
		case len(results) == steps:
			return call{"write_file", []string{"path", file, "content", content(results)}}
		}
		return done(results[steps])
	}
	t.answer = func(string) bool { return true }
	t.written[clean(file)] = func(got string) bool {
		return got == want || got == want+"\n" || strings.TrimRight(got, "\n") == strings.TrimRight(want, "\n")
	}
}

func (m maker) readWrite(t *Task, p Phrasing) {
	file, to, content := m.filePath(), m.filePath(), m.text(p.Want == Content)
	if clean(file) == clean(to) || strings.HasPrefix(clean(file), clean(to)+"/") || strings.HasPrefix(clean(to), clean(file)+"/") {
		to = "other-" + m.word() + ".txt"
	}
	t.Text = m.placed(m.placed(p.Text, "{file}", file), "{to}", to)
	if !m.missing() {
		t.add(file, content)
	}
	t.next = func(results []string) call { return call{"read_file", []string{"path", file}} }
	want := content
	if p.Want == FirstLine {
		want = head(content)
	}
	value := func(results []string) string {
		v := wanted(p.Want, results[0])
		if p.Want == Size {
			v, _, _ = strings.Cut(v, " ")
		}
		return v
	}
	t.writes(file, want, value)
	plan := t.next
	t.next = func(results []string) call {
		if p.Want == Content && len(results) == 1 && (truncated(results[0]) || rest(results[0]) == "" && !failed(results[0])) {
			return done(head(results[0]))
		}
		c := plan(results)
		if c.name == "write_file" {
			c.args[1] = to
		}
		return c
	}
	check := t.written[clean(file)]
	delete(t.written, clean(file))
	t.written[clean(to)] = check
	if p.Want == Size {
		t.written[clean(to)] = func(got string) bool { return saysSize(got, len(content)) }
	}
}

// numbered returns the content of a file with a number.
func (m maker) numbered(n string) string {
	x := m.Float64()
	plain := 0.65
	if !m.rich {
		plain = 0.8
	}
	s := n
	switch {
	case x < plain:
	case x < plain+0.2 || !m.rich:
		s = m.word() + pick(m.random, ": ", "=", " = ", ":", " ", " is ", " - ") + n
	case x < 0.90:
		s = n + " " + m.word()
	case x < 0.95:
		s = pick(m.random, "the ", "The ", "our ", "") + m.word() + pick(m.random, " is ", " was ", " has ", " costs ", " of ") + n + pick(m.random, "", ".", " "+m.word())
	default:
		s = m.word() + " " + m.word() + "\n" + n
	}
	if m.chance(0.5) {
		s += "\n"
	}
	return s
}

func (m maker) readCompute(t *Task, p Phrasing) {
	file := m.filePath()
	text, digits := m.values(p.Expr)
	x := m.operand()
	if strings.Contains(p.Expr, "/ x") && x == "0" {
		x = "4"
	}
	if strings.Contains(p.Expr, "x /") && m.chance(0.4) {
		x = pick(m.random, "10", "20", "36", "48", "64", "100", "120", "240", "1000")
	}
	digits['x'] = x
	expr := substitute(p.Expr, digits)
	t.Text = m.placed(variables(p.Text, text), "{file}", file)
	if !m.missing() {
		t.add(file, m.numbered(x))
	}
	t.next = func(results []string) call {
		switch {
		case len(results) == 0:
			return call{"read_file", []string{"path", file}}
		case len(results) == 1 && !failed(results[0]):
			return call{"compute", []string{"expression", expr}}
		}
		return done(results[len(results)-1])
	}
	t.answer = func(a string) bool { return saysValue(a, expr) }
}
