// Agent gives a model a tool of this program's own: notes that are in memory,
// and not in files.
//
//	agent "What is in shopping.txt?"
//	agent -model MODEL "Which notes are there?"
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
)

// notes is what the tools know.
var notes = map[string]string{
	"shopping.txt": "eggs, milk and bread\n",
	"rent.txt":     "840\n",
}

func main() {
	path := flag.String("model", "", "a model folder or GGUF file; without it, the model that is built in")
	flag.Parse()
	task := "What is in shopping.txt?"
	if flag.NArg() > 0 {
		task = strings.Join(flag.Args(), " ")
	}
	// Ctrl-C ends the run; the last step then says "cancelled".
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *path, task); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run lets a model do a task and writes its steps and the answer to w.
func run(ctx context.Context, w io.Writer, path, task string) error {
	model, err := open(path)
	if err != nil {
		return err
	}
	defer model.Close()
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		return err
	}
	a, err := agent.New(writer, []agent.Tool{listNotes(), readNote{}}, nil)
	if err != nil {
		return err
	}
	defer a.Close()

	for step, err := range a.Run(ctx, task) {
		if step.Call.Name != "" {
			fmt.Fprintf(w, "%d. %s %s", step.N, step.Call.Name, step.Call.Arguments)
			if step.Result != "" {
				fmt.Fprintf(w, " → %q", step.Result)
			}
			fmt.Fprintln(w)
		}
		if err != nil {
			return fmt.Errorf("the run ended with %q: %w", step.End, err)
		}
		if step.End == agent.Done {
			fmt.Fprintln(w, step.Answer)
		}
	}
	return nil
}

func open(path string) (*llama.Model, error) {
	if path == "" {
		return tiny.Open(nil)
	}
	return llama.Open(path, nil)
}

// The names of the tools are those that the built-in model was trained with.
// Other models read name, description and schema, and may be given any tool.

// listNotes returns a tool that is a function.
func listNotes() agent.Tool {
	return agent.NewTool("list_dir", "Lists the notes that there are.", `{
		"type": "object",
		"properties": {"path": {"type": "string", "description": "ignored: there is one folder"}},
		"required": ["path"]
	}`, func(context.Context, json.RawMessage) (agent.Result, error) {
		names := make([]string, 0, len(notes))
		for name := range notes {
			names = append(names, name)
		}
		slices.Sort(names)
		return agent.Result{Text: fmt.Sprintf("%d entries\n%s", len(names), strings.Join(names, "\n"))}, nil
	})
}

// readNote is a tool that is a type.
type readNote struct{}

func (readNote) Name() string        { return "read_file" }
func (readNote) Description() string { return "Reads a note." }

// Schema is what the model's arguments are sure to be valid by.
func (readNote) Schema() json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {"path": {"type": "string", "description": "the note's name"}},
		"required": ["path"]
	}`)
}

// Call returns the note. An error is no end: the model reads it and goes on.
func (readNote) Call(_ context.Context, args json.RawMessage) (agent.Result, error) {
	var a struct{ Path string }
	if err := json.Unmarshal(args, &a); err != nil {
		return agent.Result{}, err
	}
	text, ok := notes[strings.TrimPrefix(a.Path, "/")]
	if !ok {
		return agent.Result{}, fmt.Errorf("there is no note %q", a.Path)
	}
	return agent.Result{Text: fmt.Sprintf("%d bytes\n%s", len(text), text)}, nil
}
