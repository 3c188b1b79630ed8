// Mcp gives an agent the tools of an MCP server. The server is this program as
// well, started by itself; any other is used in the same way.
//
//	mcp "What is in tides.txt?"
//	mcp -model MODEL "Read tides.txt and say when the water is high."
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/agent/mcp"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
)

func main() {
	path := flag.String("model", "", "a model folder or GGUF file; without it, the model that is built in")
	server := flag.Bool("server", false, "be the server, on standard input and output")
	flag.Parse()
	task := "What is in tides.txt?"
	if flag.NArg() > 0 {
		task = strings.Join(flag.Args(), " ")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if *server {
		err = serve(ctx)
	} else {
		err = run(ctx, os.Stdout, *path, task)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

// run lets a model do a task with the tools of the server.
func run(ctx context.Context, w io.Writer, path, task string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// A server has the rights of this process: start only what you trust.
	server, err := mcp.Command(ctx, exec.Command(self, "-server"), nil)
	if err != nil {
		return err
	}
	defer server.Close()

	model, err := open(path)
	if err != nil {
		return err
	}
	defer model.Close()
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		return err
	}
	// A tool whose schema cannot be compiled is left out, and does no harm.
	a, err := agent.New(writer, server.Tools(), &agent.Options{SkipUnusable: true})
	if err != nil {
		return err
	}
	defer a.Close()
	for _, tool := range a.Tools() {
		fmt.Fprintf(w, "tool: %s\n", tool.Name)
	}
	for _, skipped := range a.Skipped() {
		fmt.Fprintf(w, "left out: %s\n", skipped.Err)
	}
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
