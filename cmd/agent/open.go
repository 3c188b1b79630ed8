package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/agent/mcp"
	"github.com/leveret-os/leveret/pkg/agent/tools"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/tiny"
)

// session is an agent with all that it stands on.
type session struct {
	agent   *agent.Agent
	closers []func() error
}

// close closes everything, the last opened first.
func (s *session) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}

// open opens the model and the tools. It says which tools are left out.
func open(ctx context.Context, o *options, note func(error)) (opened *session, err error) {
	s := &session{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	list, err := s.tools(ctx, o)
	if err != nil {
		return nil, err
	}
	model, err := openModel(o.model, &llama.Options{Threads: o.threads})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, model.Close)
	writer, err := agent.NewLlama(model, &agent.LlamaOptions{Context: o.context})
	if err != nil {
		return nil, err
	}
	s.agent, err = agent.New(writer, list, &agent.Options{MaxSteps: o.maxSteps, SkipUnusable: true})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.agent.Close)
	for _, skipped := range s.agent.Skipped() {
		note(fmt.Errorf("tool %q is left out: %w", skipped.Name, skipped.Err))
	}
	return s, nil
}

// builtIn is the name of the model that is in the program. A folder of that name
// is ./tiny.
const builtIn = "tiny"

func openModel(name string, opts *llama.Options) (*llama.Model, error) {
	if name == builtIn {
		return tiny.Open(opts)
	}
	model, err := llama.Open(name, opts)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("-m %s: no such model: expected tiny, a folder with a checkpoint, or a .gguf file: %w", name, err)
	}
	return model, err
}

// tools returns the tools that the flags ask for.
func (s *session) tools(ctx context.Context, o *options) ([]agent.Tool, error) {
	dir, readOnly := o.root, o.readOnly
	if dir == "" {
		dir, readOnly = ".", true
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the root folder: %w", err)
	}
	s.closers = append(s.closers, root.Close)
	list := append(tools.Files(root, &tools.FilesOptions{ReadOnly: readOnly}), tools.Compute())
	if len(o.allow) > 0 {
		get, err := tools.HTTPGet(tools.HTTPOptions{Allow: o.allow})
		if err != nil {
			return nil, err
		}
		list = append(list, get)
	}
	for _, where := range o.mcp {
		server, err := connect(ctx, where)
		if err != nil {
			return nil, fmt.Errorf("--mcp %s: %w", where, err)
		}
		s.closers = append(s.closers, server.Close)
		list = append(list, server.Tools()...)
	}
	return list, nil
}

// connect connects with an MCP server: a URL, or a command with its arguments
// between blanks.
func connect(ctx context.Context, where string) (*mcp.Server, error) {
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		return mcp.HTTP(ctx, where, nil, nil)
	}
	words := strings.Fields(where)
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: no command", mcp.ErrServer)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	return mcp.Command(ctx, cmd, nil)
}
