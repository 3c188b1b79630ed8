// Command corpus writes what the embedded model is trained on.
//
//	corpus -model DIR -out DIR [-set training] [-seed N] [-first N] [-shards N] [-size N]
//	corpus -model DIR -text FILE [-size N]
//
// DIR has the tokenizer and the chat template, with any weights. A shard
// (00000.bin and so on) is a row of tasks: a uint16 with the number of tokens,
// then the tokens, each a uint16 with the id in the lower 13 bits and its class
// above (see class); all little endian. With -text the tasks are written as text, for the
// tokenizer to be made of; special tokens are line ends there.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny/internal/tasks"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	dir := flag.String("model", "", "the folder of the model")
	out := flag.String("out", "", "the folder of the shards")
	text := flag.String("text", "", "a file for text instead of shards")
	name := flag.String("set", "training", "training or development")
	seed := flag.Uint64("seed", 1, "the seed of the tasks")
	first := flag.Int("first", 0, "the first shard")
	shards := flag.Int("shards", 1, "the number of shards")
	size := flag.Int("size", 10000, "tasks in a shard")
	flag.Parse()
	model, err := llama.Open(*dir, nil)
	if err != nil {
		return err
	}
	defer model.Close()
	w, err := newWriter(model)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	set := tasks.Training(*seed)
	if *name == "development" {
		set = tasks.Development(*seed)
	}
	if *text != "" {
		return w.file(*text, set, 0, *size, w.asText)
	}
	for i := *first; i < *first+*shards; i++ {
		path := filepath.Join(*out, fmt.Sprintf("%05d.bin", i))
		if err := w.file(path+".part", set, i**size, *size, w.asTokens); err != nil {
			return err
		}
		if err := os.Rename(path+".part", path); err != nil { // who reads along sees whole files
			return err
		}
	}
	return nil
}

// A writer lets the teacher do tasks and writes down what was said.
type writer struct {
	tok     *bpe.Tokenizer
	teacher *tasks.Teacher
	bench   *tasks.Bench
	dir     string
	end     int
	system  int
}

func newWriter(model *llama.Model) (*writer, error) {
	w := &writer{tok: model.Tokenizer(), end: model.Config().EOSTokenIDs[0]}
	w.system = w.tok.Encode("<|system|>", &bpe.EncodeOptions{ParseSpecial: true})[0]
	var err error
	if w.teacher, err = tasks.NewTeacher(model); err != nil {
		return nil, err
	}
	base := "" // the default folder for temporary files
	if _, err := os.Stat("/dev/shm"); err == nil {
		base = "/dev/shm"
	}
	if w.dir, err = os.MkdirTemp(base, "corpus"); err != nil {
		return nil, err
	}
	w.bench, err = tasks.NewBench(w.dir, w.teacher)
	return w, err
}

func (w *writer) close() error { return errors.Join(w.bench.Close(), os.RemoveAll(w.dir)) }

func (w *writer) file(path string, set *tasks.Set, first, n int, write func(*bufio.Writer, int) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	for i := first; i < first+n && err == nil; i++ {
		t := set.Task(i)
		w.teacher.Next(t)
		var o *tasks.Outcome
		if o, err = w.bench.Run(context.Background(), t); err != nil {
			break
		}
		if o.Reason != "done" {
			err = fmt.Errorf("task %d, %q: the teacher ends with %s: %v", i, t.Text, o.Reason, o.Wrong)
			break
		}
		err = write(b, i)
	}
	return errors.Join(err, b.Flush(), f.Close())
}

func (w *writer) asText(b *bufio.Writer, _ int) error {
	prompt, call := w.teacher.Last()
	for _, id := range prompt {
		if w.tok.IsSpecial(id) {
			b.WriteByte('\n')
		} else {
			b.Write(w.tok.TokenBytes(id))
		}
	}
	_, err := b.WriteString(call + "\n")
	return err
}

// The classes of tokens: how much it matters that the model predicts them.
const (
	given  = iota // what the user or a tool says
	forced        // in a call, where the grammar leaves no choice
	chosen        // in a call
)

const idBits = 13

func (w *writer) asTokens(b *bufio.Writer, n int) error {
	prompt, call := w.teacher.Last()
	ids := append(append(prompt[:len(prompt):len(prompt)], w.tok.Encode(call, nil)...), w.end)
	out := []byte{0, 0}
	if n%50 == 7 { // a system message that says nothing
		out = w.append(out, w.system, given)
		for _, id := range w.tok.Encode(systems[n/50%len(systems)], nil) {
			out = w.append(out, id, given)
		}
	}
	inCall := false
	for _, id := range ids {
		class := given
		text := string(w.tok.TokenBytes(id))
		switch {
		case inCall && (id == w.end || strings.HasPrefix(text, `{"name":"`) || strings.HasPrefix(text, `","arguments":`)):
			class = forced
		case inCall:
			class = chosen
		}
		out = w.append(out, id, class)
		switch {
		case id == w.end:
			inCall = false
		case text == "<|call|>":
			inCall = true
		}
	}
	if len(ids) > 2000 {
		return nil
	}
	binary.LittleEndian.PutUint16(out, uint16(len(out)/2-1))
	_, err := b.Write(out)
	return err
}

func (w *writer) append(out []byte, id, class int) []byte {
	return binary.LittleEndian.AppendUint16(out, uint16(id|class<<idBits))
}

// systems are messages of others than agent.DefaultSystem.
var systems = []string{
	"You are a helpful assistant.", "You are an agent. Use tools.", "You call tools.", "Do what the user asks.",
	"You are a careful file clerk.", "Be brief.", "You are an assistant with tools for files.", "Call one tool at a time.",
}
