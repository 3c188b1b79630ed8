package tasks

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// A Task is something that a user asks for.
type Task struct {
	Kind Kind
	Want Want
	// Text is what the user says.
	Text string
	// Files are the files of the folder by their path, and Folders further
	// folders, which are empty.
	Files   map[string]string
	Folders []string

	// next returns the call after the given results; none means that the last
	// one was done.
	next func(results []string) call
	// what is checked at the end
	answer  func(answer string) bool
	written map[string]func(content string) bool
}

// A call is a tool call with its arguments, names and values in turn.
type call struct {
	name string
	args []string
}

// text writes a call as the grammar has it.
func (c call) text() string {
	var b bytes.Buffer
	b.WriteString(`{"name":"` + c.name + `","arguments":{`)
	for i, a := range c.args {
		switch {
		case i > 0 && i%2 == 0:
			b.WriteByte(',')
		case i > 0:
			b.WriteByte(':')
		}
		b.Write(quote(a))
	}
	b.WriteString("}}")
	return b.String()
}

func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // a string can always be encoded
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func done(answer string) call { return call{"done", []string{"answer", answer}} }

// head returns the first line of a result, rest what follows it.
func head(result string) string { h, _, _ := strings.Cut(result, "\n"); return h }
func rest(result string) string { _, r, _ := strings.Cut(result, "\n"); return r }

func failed(result string) bool { return strings.HasPrefix(result, "error: ") }

// clean returns a path as the file system has it.
func clean(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") }

func (t *Task) add(p, content string) {
	if t.Files == nil {
		t.Files = map[string]string{}
	}
	t.Files[clean(p)] = content
}

// A Set is a source of tasks.
type Set struct {
	seed      uint64
	phrasings []Phrasing // nil: those of training
	vocabulary
}

// Training returns the tasks of training.
func Training(seed uint64) *Set {
	return &Set{seed: seed, vocabulary: vocabulary{words, 0.38, 0.012, true}}
}

// Development returns tasks with phrasings that are not those of training, which
// the recipe may be tuned on.
func Development(seed uint64) *Set {
	return &Set{seed: seed, phrasings: development, vocabulary: vocabulary{words, 0.45, 0.01, false}}
}

// HeldOut returns tasks with the phrasings and words of the published score.
func HeldOut(seed uint64) *Set {
	return &Set{seed: seed, phrasings: Heldout, vocabulary: vocabulary{HeldoutWords, 0.25, 0.01, false}}
}

// Task returns the task with the given number. Kinds take turns in sets other
// than that of training.
func (s *Set) Task(n int) *Task {
	m := maker{newRandom(s.seed, uint64(n)), s.vocabulary}
	if s.phrasings == nil {
		return m.training()
	}
	kind := Kind(n % Kinds)
	var list []Phrasing
	for _, p := range s.phrasings {
		if p.Kind == kind {
			list = append(list, p)
		}
	}
	return m.task(list[(n/Kinds)%len(list)])
}

// wants are the wants of each kind, with repetitions for more of them.
var wants = map[Kind][]Want{
	Read:        {Size, Size, FirstLine, FirstLine, Content, Content, Content},
	List:        {Count, Count, Names, Names, Names},
	Compute:     {Result},
	Write:       {Result},
	ReadWrite:   {Content, Content, Content, Size, Size, FirstLine, FirstLine},
	ReadCompute: {Result},
}

// training returns a task as it is trained on: of the six kinds, most of them,
// with what goes wrong and what is near.
func (m maker) training() *Task {
	if m.chance(0.04) {
		return m.extra()
	}
	k := pick(m.random, Read, Read, Read, List, List, Compute, Compute, Compute, Compute, Compute, Write, Write, Write, Write, Write, Write, ReadWrite, ReadWrite, ReadWrite, ReadWrite, ReadWrite, ReadCompute, ReadCompute, ReadCompute, ReadCompute, ReadCompute, ReadCompute)
	return m.task(m.template(k, pick(m.random, wants[k]...)))
}

// task makes a task of a phrasing.
func (m maker) task(p Phrasing) *Task {
	t := &Task{Kind: p.Kind, Want: p.Want, written: map[string]func(string) bool{}}
	switch p.Kind {
	case Read:
		m.read(t, p)
	case List:
		m.list(t, p)
	case Compute:
		m.compute(t, p)
	case Write:
		m.write(t, p)
	case ReadWrite:
		m.readWrite(t, p)
	case ReadCompute:
		m.readCompute(t, p)
	}
	return t
}
