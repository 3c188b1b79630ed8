package mcp

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Command starts a server and speaks to it over its standard input and output.
// The command must not have been started, and its Stdin and Stdout not be set;
// what it writes to standard error goes where cmd.Stderr says, by default
// nowhere. It runs with the environment and rights of this process unless cmd
// says otherwise: a server that is not trusted needs a sandbox of its own.
//
// ctx is for connecting; the server runs until Close.
func Command(ctx context.Context, cmd *exec.Cmd, opts *Options) (*Server, error) {
	o := opts.withDefaults()
	if cmd.Stdin != nil || cmd.Stdout != nil || cmd.Process != nil {
		return nil, fmt.Errorf("%w: the command has a Stdin or Stdout, or runs already", ErrServer)
	}
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = time.Second // a grandchild may hold its standard error open
	}
	// The process is started here, so that it is known whatever becomes of the
	// connecting.
	connection, err := (&sdk.CommandTransport{Command: cmd, TerminateDuration: time.Second}).Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: starting: %w", ErrServer, err)
	}
	process := cmd.Process
	kill := func() {
		process.Kill() // has no effect on one that was waited for
	}
	seen := &schemas{}
	return connect(ctx, &listening{connection, seen, o.MaxMessage}, seen, kill, o)
}
