package mcp

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leveret-os/leveret/pkg/agent"
)

var (
	// ErrServer means a server that cannot be reached, does not speak the
	// protocol, or exceeds what it may send.
	ErrServer = errors.New("mcp: server")
	// ErrLimit means a server that sends more than Options allow.
	ErrLimit = errors.New("mcp: more than is allowed")
)

// Options say how a server is used. The zero value, and nil, are the defaults.
type Options struct {
	// Prefix comes before the names of the tools, so that two servers may have
	// tools of the same name: "web." makes "web.search" of "search".
	Prefix string
	// MaxTools is the largest number of tools; 0 means 64.
	MaxTools int
	// MaxMessage is the largest message, in bytes; 0 means 16 MiB. Over standard
	// input and output it cannot be more than that.
	MaxMessage int
	// MaxDescription is how many bytes of a tool's description the model is
	// shown; 0 means 1,024.
	MaxDescription int
	// Timeout is the time for connecting and listing the tools; 0 means 10 s.
	Timeout time.Duration
}

func (o *Options) withDefaults() Options {
	var v Options
	if o != nil {
		v = *o
	}
	for _, f := range []struct {
		field *int
		value int
	}{{&v.MaxTools, 64}, {&v.MaxMessage, sdk.DefaultMaxLineLength}, {&v.MaxDescription, 1024}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if v.Timeout <= 0 {
		v.Timeout = 10 * time.Second
	}
	return v
}

// A Server is a connection with a server. It is safe for concurrent use.
type Server struct {
	session *sdk.ClientSession
	tools   []agent.Tool
	kill    func() // ends what Close of the session does not, or nil
	once    sync.Once
	err     error // of Close
}

// closeTime is how long a server may take to end.
const closeTime = 5 * time.Second

// connect begins a session and lists the tools.
func connect(ctx context.Context, transport sdk.Transport, seen *schemas, kill func(), o Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "leveret", Version: "0"}, &sdk.ClientOptions{
		// The server is offered nothing of the client's.
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	s := &Server{kill: kill}
	err := within(ctx, func() (err error) {
		s.session, err = client.Connect(ctx, transport, nil)
		return err
	})
	if err != nil {
		if kill != nil {
			kill()
		}
		return nil, fmt.Errorf("%w: connecting: %w", ErrServer, err)
	}
	err = within(ctx, func() error { return s.list(ctx, seen, o) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: listing its tools: %w", ErrServer, err), s.Close())
	}
	return s, nil
}

// within runs f and leaves it behind when ctx ends: writing to a server that
// does not read may block, whatever the context says.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// list asks for the tools, page by page.
func (s *Server) list(ctx context.Context, seen *schemas, o Options) error {
	params := &sdk.ListToolsParams{}
	var tools []agent.Tool
	for pages := 1; ; pages++ {
		page, err := s.session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		if seen.tooMuch() {
			return fmt.Errorf("%w: more than %d bytes of tools", ErrLimit, maxListing)
		}
		for _, t := range page.Tools {
			if len(tools) == o.MaxTools {
				return fmt.Errorf("%w: more than %d tools", ErrLimit, o.MaxTools)
			}
			tools = append(tools, &tool{s, t.Name, o.Prefix + t.Name, describe(t, o.MaxDescription), seen.of(t)})
		}
		if page.NextCursor == "" {
			seen.stop()
			s.tools = tools
			return nil
		}
		if pages > o.MaxTools { // pages may be empty
			return fmt.Errorf("%w: more than %d pages of tools", ErrLimit, o.MaxTools)
		}
		params.Cursor = page.NextCursor
	}
}

// describe returns what the model is told of a tool.
func describe(t *sdk.Tool, most int) string {
	text := strings.TrimSpace(strings.ToValidUTF8(t.Description, "\uFFFD"))
	if text == "" {
		text = strings.ToValidUTF8(t.Title, "\uFFFD")
	}
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// Tools returns the server's tools, in its order. Those that cannot be used are
// among them: agent.New says so.
func (s *Server) Tools() []agent.Tool { return append([]agent.Tool(nil), s.tools...) }

// Close ends the session, and the server if it was started by Command. It does
// so within some seconds, whatever the server does. Closing twice is allowed.
func (s *Server) Close() error {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		s.err = within(ctx, s.session.Close)
		var exit *exec.ExitError
		if errors.As(s.err, &exit) {
			s.err = nil // a server that had to be told twice has ended all the same
		}
		if s.kill != nil {
			s.kill()
		}
	})
	return s.err
}
