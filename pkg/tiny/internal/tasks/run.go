package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/agent/tools"
)

// A Bench runs tasks, one after the other, by the agent with its own tools in a
// folder.
type Bench struct {
	dir   string
	root  *os.Root
	agent *agent.Agent
}

// NewBench returns a bench in an empty folder, which is emptied after each task.
func NewBench(dir string, model agent.Model) (*Bench, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	a, err := agent.New(model, append(tools.Files(root, nil), tools.Compute()), nil)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Bench{dir, root, a}, nil
}

// Tools returns the tools of the agent.
func (b *Bench) Tools() []agent.Spec { return b.agent.Tools() }

// Close closes the agent and the folder, not the model.
func (b *Bench) Close() error { return errors.Join(b.agent.Close(), b.root.Close()) }

// An Outcome is what came of a task.
type Outcome struct {
	Reason agent.Reason
	Answer string
	Steps  []agent.Step
	// Wrong says what is wrong with the outcome; nil means that all is right.
	Wrong error
	Time  time.Duration
}

// ErrOutcome means that a task was not done as it should have been.
var ErrOutcome = errors.New("tasks: wrong outcome")

// Run makes the task's folder, lets the agent do it, checks what came of it and
// empties the folder. An error is one of the bench, not of the task.
func (b *Bench) Run(ctx context.Context, t *Task) (*Outcome, error) {
	if err := b.prepare(t); err != nil {
		return nil, err
	}
	o := &Outcome{}
	start := time.Now()
	for step, err := range b.agent.Run(ctx, t.Text) {
		o.Steps = append(o.Steps, step)
		o.Reason, o.Answer = step.End, step.Answer
		if err != nil {
			o.Wrong = err
		}
	}
	o.Time = time.Since(start)
	found, err := b.files()
	if err != nil {
		return nil, err
	}
	if o.Wrong == nil {
		o.Wrong = t.check(o.Answer, found)
	}
	return o, b.empty()
}

func (b *Bench) prepare(t *Task) error {
	for _, dir := range t.Folders {
		if err := os.MkdirAll(filepath.Join(b.dir, filepath.FromSlash(dir)), 0o755); err != nil {
			return err
		}
	}
	for p, content := range t.Files {
		name := filepath.Join(b.dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns all files by their paths.
func (b *Bench) files() (map[string]string, error) {
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(b.dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(p)))
		found[p] = string(data)
		return err
	})
	return found, err
}

func (b *Bench) empty() error {
	list, err := os.ReadDir(b.dir)
	for _, e := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, e.Name())))
	}
	return err
}

// check compares answer and files with what they should be.
func (t *Task) check(answer string, found map[string]string) error {
	if t.answer != nil && !t.answer(answer) {
		return fmt.Errorf("%w: the answer", ErrOutcome)
	}
	for p, good := range t.written {
		content, ok := found[p]
		if !ok {
			return fmt.Errorf("%w: %s was not written", ErrOutcome, p)
		}
		if !good(content) {
			return fmt.Errorf("%w: the content of %s is %q", ErrOutcome, p, content)
		}
	}
	for p, content := range t.Files {
		if _, expected := t.written[p]; expected {
			continue
		}
		if got, ok := found[p]; !ok || got != content {
			return fmt.Errorf("%w: %s was changed", ErrOutcome, p)
		}
	}
	for p := range found {
		_, was := t.Files[p]
		_, expected := t.written[p]
		if !was && !expected {
			return fmt.Errorf("%w: %s should not have been written", ErrOutcome, p)
		}
	}
	return nil
}
