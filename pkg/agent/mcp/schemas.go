package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// schemas remembers the tools' schemas as the server wrote them. The SDK
// decodes them into maps: the order of the properties, which is the order that
// the model writes them in, and the digits of large numbers would be lost, and
// duplicate keys would not be noticed.
type schemas struct {
	mu      sync.Mutex
	stopped bool
	total   int                        // bytes of results
	raw     map[string]json.RawMessage // by name; the first one counts
}

// maxListing bounds the pages of a listing together, in bytes.
const maxListing = 16 << 20

// learn takes the schemas out of the result of tools/list.
func (s *schemas) learn(result json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total += len(result); s.stopped || s.total > maxListing {
		return
	}
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if json.Unmarshal(result, &list) != nil {
		return
	}
	if s.raw == nil {
		s.raw = map[string]json.RawMessage{}
	}
	for _, t := range list.Tools {
		if _, ok := s.raw[t.Name]; !ok && len(t.InputSchema) > 0 {
			s.raw[t.Name] = t.InputSchema
		}
	}
}

// tooMuch reports whether the pages exceed their bound.
func (s *schemas) tooMuch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total > maxListing
}

// done reports whether nothing is learnt any more.
func (s *schemas) done() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// stop forgets what was learnt; later messages are not looked at.
func (s *schemas) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped, s.raw = true, nil
}

// of returns the schema of a tool: as it was written, or else as it was
// decoded. One that lost digits is none.
func (s *schemas) of(t *sdk.Tool) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw, ok := s.raw[t.Name]; ok {
		return raw
	}
	if !exact(t.InputSchema) {
		return nil
	}
	data, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil
	}
	return data
}

// exact reports whether a decoded value has no number that may have been
// rounded.
func exact(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) < 1<<53
	case []any:
		for _, e := range v {
			if !exact(e) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !exact(e) {
				return false
			}
		}
	}
	return true
}

// listening is a connection whose messages schemas learns from, and the
// transport that gives it. It is for connections that the SDK does not look
// into, as those over standard input and output.
type listening struct {
	sdk.Connection
	seen *schemas
	most int
}

// Connect makes it a transport.
func (c *listening) Connect(context.Context) (sdk.Connection, error) { return c, nil }

func (c *listening) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil {
		if len(r.Result) > c.most {
			return nil, fmt.Errorf("%w: a message of %d bytes", ErrLimit, len(r.Result))
		}
		c.seen.learn(r.Result)
	}
	return m, err
}
