package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP connects with a server at a URL (the protocol's streamable HTTP).
// Redirects are not followed. client does the requests, with whatever
// authorisation it adds; nil means one that uses no proxy.
func HTTP(ctx context.Context, endpoint string, client *http.Client, opts *Options) (*Server, error) {
	o := opts.withDefaults()
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: %.200q is no URL of http or https", ErrServer, endpoint)
	}
	if client == nil {
		client = &http.Client{Transport: &http.Transport{MaxResponseHeaderBytes: 64 << 10, DisableCompression: true}}
	}
	own := *client
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	seen := &schemas{}
	own.Transport = &bounded{own.Transport, seen, o.MaxMessage}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return errors.New("a redirect, which is not followed") }
	transport := &sdk.StreamableClientTransport{
		Endpoint:             endpoint,
		HTTPClient:           &own,
		MaxRetries:           2,
		DisableStandaloneSSE: true, // nothing that the server might say by itself is of use
		MaxEventSize:         o.MaxMessage,
	}
	return connect(ctx, transport, seen, nil, o)
}

// bounded limits the messages that come as a whole body, and lets schemas learn
// from all. (The SDK bounds events of a stream.)
type bounded struct {
	next http.RoundTripper
	seen *schemas
	most int
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && b.seen.done():
	case kind == "text/event-stream":
		response.Body = &eventBody{ReadCloser: response.Body, seen: b.seen, most: b.most}
	default:
		response.Body = &wholeBody{ReadCloser: response.Body, seen: b.seen, most: b.most}
	}
	return response, nil
}

// wholeBody is a body that is one message.
type wholeBody struct {
	io.ReadCloser
	seen *schemas
	most int
	n    int
	data []byte
}

func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.n += n; b.n > b.most {
		return 0, fmt.Errorf("%w: a message of more than %d bytes", ErrLimit, b.most)
	}
	if b.seen.done() {
		return n, err
	}
	b.data = append(b.data, p[:n]...)
	if errors.Is(err, io.EOF) {
		learn(b.seen, b.data)
		b.data = nil
	}
	return n, err
}

// eventBody is a stream of events. Each message is the data of one, on one
// line: what is spread over several is not learnt from.
type eventBody struct {
	io.ReadCloser
	seen *schemas
	most int
	line []byte
}

func (b *eventBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		if len(b.line)+len(part) <= b.most {
			b.line = append(b.line, part...)
		}
		if !ended {
			break
		}
		if data, ok := bytes.CutPrefix(b.line, []byte("data:")); ok {
			learn(b.seen, data)
		}
		b.line, rest = b.line[:0], after
	}
	return n, err
}

// learn takes the result out of a message.
func learn(seen *schemas, message []byte) {
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(message, &m) == nil && len(m.Result) > 0 {
		seen.learn(m.Result)
	}
}
