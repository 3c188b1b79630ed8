package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leveret-os/leveret/pkg/agent"
)

// A tool is one of a server's tools.
type tool struct {
	server            *Server
	remote            string // its name at the server
	name, description string
	schema            json.RawMessage
}

func (t *tool) Name() string            { return t.name }
func (t *tool) Description() string     { return t.description }
func (t *tool) Schema() json.RawMessage { return t.schema }

// Call calls the tool. The arguments go to the server as the model wrote them.
func (t *tool) Call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	r, err := t.server.session.CallTool(ctx, &sdk.CallToolParams{Name: t.remote, Arguments: args})
	if err != nil {
		if ctx.Err() != nil {
			return agent.Result{}, ctx.Err()
		}
		if errors.Is(err, sdk.ErrConnectionClosed) {
			return agent.Result{}, fmt.Errorf("%w: it is gone", ErrServer)
		}
		return agent.Result{}, fmt.Errorf("%w: %w", ErrServer, err)
	}
	text := textOf(r)
	switch {
	case len(r.InputRequests) > 0 || r.RequestState != "":
		return agent.Result{}, fmt.Errorf("%w: the tool asks for more input, which nobody gives here", ErrServer)
	case r.IsError && text == "":
		return agent.Result{}, errors.New("the tool failed and does not say why")
	case r.IsError:
		return agent.Result{}, errors.New(text)
	}
	return agent.Result{Text: text}, nil
}

// textOf writes a result as text. What is not text is named, not shown.
func textOf(r *sdk.CallToolResult) string {
	var parts []string
	text := false
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
			text = true
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[a sound, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[a link to %s, %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			switch {
			case c.Resource == nil:
			case c.Resource.Blob != nil:
				parts = append(parts, fmt.Sprintf("[a file, %s, %s, %d bytes]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob)))
			default:
				parts = append(parts, c.Resource.Text)
				text = true
			}
		default:
			parts = append(parts, "[something that is not text]")
		}
	}
	if !text && r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(data))
		}
	}
	return strings.Join(parts, "\n")
}
