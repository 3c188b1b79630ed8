package tasks

import "strings"

// here names the root folder, or nothing at all.
var rootWays = map[Want][]string{
	Count: {"how many <things> are [here|there|in the root folder|in this folder|in the current folder|in /|in the root|in my folder]", "count the <things>[| here| in the root folder| in this folder| in the current directory| in /]", "how many <things> do [I|we|you] have[| here]", "list the root folder<J><RP> <itsCount>", "[tell me|report] the number of <things>[| here| in the root folder]", "list /<J><RP> <itsCount>", "how many <things> can you see", "list everything<J><RP> <itsCount>"},
	Names: {"list [the|all|my|all the|all my|your] <things>[| here| in the root folder| in this folder| in the current directory| in /]", "list the root folder", "list /", "ls", "ls /", "dir", "what <things> are [here|there]", "which <things> are [here|there|in the root folder|in this folder]", "what <things> do [I|we|you] have[| here]", "show [me |][the|all|my] <things>", "what is [here|in this folder|in the root folder|in the current folder]", "what can you see[| here]", "list everything", "<RP> what is here", "list this folder", "name the <things> here", "look around", "list the current directory", "show me what is in the root folder", "list_dir /", "use list_dir"},
}

// smallTalk has no call but done.
var smallTalk = []string{"hello", "hi", "hi there", "hey", "good morning", "help", "help me", "what can you do", "who are you", "what are you", "what is this", "how are you", "hello, who are you", "what do you do", "how do you work", "what are your tools", "which tools do you have", "can you help me", "what is your name", "are you there", "what can I ask you", "thanks", "thank you", "ok", "good bye", "bye", "nice to meet you", "tell me about yourself", "tell me what you can do", "how can you help me", "test", "what tools can you use"}

const about = "I read and write files, list folders and compute."

// extra returns a task that is none of the six kinds, but near.
func (m maker) extra() *Task {
	t := &Task{written: map[string]func(string) bool{}}
	x := m.Float64()
	switch {
	case x < 0.40:
		t.Kind, t.Want = List, pick(m.random, Count, Names)
		t.Text = m.spoil(m.capital(m.expand("[|||please |can you |could you |hey, ]") + m.expand(pick(m.random, rootWays[t.Want]...)) + m.expand("[|||?|.| please|, please|!]")))
		t.entries(m, "/", t.Want)
	case x < 0.55:
		t.Text = m.spoil(m.capital(pick(m.random, smallTalk...) + pick(m.random, "", "", "?", "!", ".")))
		t.next = func([]string) call { return done(about) }
	case x < 0.72:
		m.onlyFile(t)
	default:
		m.computeWrite(t)
	}
	return t
}

// onlyFile lists a folder and reads the one file in it.
func (m maker) onlyFile(t *Task) {
	t.Kind, t.Want = Read, pick(m.random, Size, FirstLine, Content)
	dir, name, content := m.folderPath(), m.file(), m.content(3, 8)
	f := m.expand("[the only|the one|the single|the only] file [in|in|inside|of] <D>")
	text := ways[Read][t.Want][0]
	for {
		if phrase := m.expand("<" + text + ">"); strings.Count(phrase, "{file}") == 1 && !strings.ContainsAny(phrase, "\"'`:(") {
			phrase = strings.NewReplacer("the file {file}", f, "{file}", f).Replace(phrase)
			t.Text = m.spoil(m.imperative(phrase))
			break
		}
	}
	t.Text = strings.Replace(t.Text, "{dir}", dir, 1)
	t.add(dir+"/"+name, content)
	t.next = func(results []string) call {
		switch {
		case len(results) == 0:
			return call{"list_dir", []string{"path", dir}}
		case len(results) == 1:
			return call{"read_file", []string{"path", strings.TrimSuffix(dir, "/") + "/" + rest(results[0])}}
		}
		return done(wanted(t.Want, results[1]))
	}
}

// computeWrite writes a value to a file, the number for it given or in a file.
func (m maker) computeWrite(t *Task) {
	t.Kind = Compute
	file := m.filePath()
	end := m.expand("[write|save|put|store] [it|the result|the answer|the value] [to|in|into] <W>")
	text := m.expand("[compute|calculate|work out] {expr}<J>") + end
	if m.chance(0.5) {
		text = m.expand("[write|save|put|store] [the result of|the value of|] {expr} [to|in|into] <W>")
	}
	expr := m.expression()
	if m.chance(0.3) {
		f := pick(m.random, valueWords...)
		words, digits := m.values(f.expr)
		text = strings.Replace(text, "{expr}", variables(f.text, words), 1)
		expr = substitute(f.expr, digits)
	}
	t.Text = strings.NewReplacer("{expr}", expr, "{file}", file).Replace(m.imperative(text))
	t.next = func([]string) call { return call{"compute", []string{"expression", expr}} }
	t.writes(file, "", func(results []string) string { return results[0] })
}
