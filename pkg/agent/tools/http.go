package tools

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/agent"
)

// HTTPOptions say what http_get reaches.
type HTTPOptions struct {
	// Allow lists the hosts that may be reached, as HOST or HOST:PORT; HOST
	// stands for the port of http or https. Hosts are names, each by itself
	// (there are no patterns), or IP addresses. An address that is not public is
	// dialled only if it is on the list itself, whatever name leads to it. An
	// empty list allows nothing.
	Allow []string
	// Timeout is the time for a whole call, redirects and all; 0 means 20 s.
	Timeout time.Duration
	// MaxBytes is how much of a page is read; 0 means 1,048,576.
	MaxBytes int
	// RootCAs are the authorities that certificates are verified by; nil means
	// the system's.
	RootCAs *x509.CertPool

	resolver *net.Resolver // for tests
}

const (
	maxRedirects = 5
	maxURL       = 4096
	maxHeaders   = 64 << 10
)

const httpSchema = `{"type":"object","properties":{` +
	`"url":{"type":"string","description":"http:// or https://"},` +
	`"offset":{"type":"integer","minimum":0,"maximum":9007199254740991,"description":"the byte to begin at; 0 if left out"}},` +
	`"required":["url"],"additionalProperties":false}`

// HTTPGet returns the tool http_get. Each URL, that of a redirect too, is held
// against the allow-list, and each address at the moment that it is dialled, so
// that a name that leads elsewhere the second time reaches nothing more. No
// proxy of the environment is used, no cookie is kept, certificates are
// verified, and a redirect from https to http is not followed.
func HTTPGet(opts HTTPOptions) (agent.Tool, error) {
	allow, err := parseAllow(opts.Allow)
	if err != nil {
		return nil, err
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 20 * time.Second
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = 1 << 20
	}
	g := &getter{allow, newClient(allow, &opts), opts.Timeout, opts.MaxBytes}
	return agent.NewTool("http_get", "Get a web page or another text from the web. The first line of the result says how many bytes it has and, if not all are shown, the offset to go on from.", httpSchema, g.call), nil
}

type getter struct {
	allow    allowList
	client   *http.Client
	timeout  time.Duration
	maxBytes int
}

// newClient returns a client that reaches what is allowed.
func newClient(allow allowList, opts *HTTPOptions) *http.Client {
	dialer := &net.Dialer{
		Resolver: opts.resolver,
		// Called with the address that is about to be connected to, for each
		// that a name leads to.
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return allow.checkAddress(address)
		},
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: opts.RootCAs, MinVersion: tls.VersionTLS12},
			DisableKeepAlives:      true, // or a connection would serve a later call unchecked
			DisableCompression:     true, // what is small on the wire stays small
			MaxResponseHeaderBytes: maxHeaders,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			next.Header.Del("Referer")
			if len(via) > maxRedirects {
				return &told{fmt.Sprintf("more than %d redirects", maxRedirects), ErrRefused}
			}
			if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
				return &told{"a redirect from https to " + next.URL.Scheme, ErrRefused}
			}
			if err := allow.checkURL(next.URL); err != nil {
				return &told{"a redirect: " + err.Error(), err}
			}
			return nil
		},
	}
}

func (g *getter) call(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	var args struct {
		URL    string
		Offset integer
	}
	if err := decode(raw, &args); err != nil {
		return agent.Result{}, err
	}
	if int64(args.Offset) > int64(g.maxBytes) {
		return agent.Result{}, &told{fmt.Sprintf("offset %d is beyond the %d bytes that are read of a page", args.Offset, g.maxBytes), ErrRefused}
	}
	u, err := url.Parse(args.URL)
	if err != nil || len(args.URL) > maxURL {
		return agent.Result{}, &told{"malformed URL", ErrRefused}
	}
	if err := g.allow.checkURL(u); err != nil {
		return agent.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	data, err := g.fetch(limited, u.String())
	switch {
	case ctx.Err() != nil:
		return agent.Result{}, ctx.Err()
	case limited.Err() != nil:
		return agent.Result{}, &told{fmt.Sprintf("the page did not come within %v", g.timeout), context.DeadlineExceeded}
	case err != nil:
		return agent.Result{}, plainHTTP(err)
	}
	return page(data, int(args.Offset), g.maxBytes)
}

// fetch reads a page, and a character more than is shown if there is more.
func (g *getter) fetch(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "leveret")
	response, err := g.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if code := response.StatusCode; code < 200 || code > 299 {
		return nil, &told{strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code))), errStatus}
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, &told{"the page is compressed, which was not asked for", errStatus}
	}
	return io.ReadAll(io.LimitReader(response.Body, int64(g.maxBytes)+utf8.UTFMax))
}

var errStatus = errors.New("the server's answer is not a page")

// page returns a page from an offset on.
func page(data []byte, offset, maxBytes int) (agent.Result, error) {
	more := len(data) > maxBytes
	if more {
		data = data[:runeCut(data, maxBytes)]
	}
	if offset > len(data) {
		return agent.Result{}, &told{fmt.Sprintf("offset %d is beyond the end: the page has %d bytes", offset, len(data)), ErrRefused}
	}
	offset = runeStart(data, offset)
	size, text := int64(len(data)), string(data[offset:])
	return agent.Result{Text: text, Head: func(shown int) string {
		head := partHead(size, int64(offset), text[:min(shown, len(text))])
		if more {
			head = "more than " + head
		}
		return head
	}}, nil
}

// plainHTTP says in a few words why a page was not got.
func plainHTTP(err error) error {
	var (
		chosen      *told
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		errno       syscall.Errno
	)
	switch {
	case errors.As(err, &chosen):
		return chosen
	case errors.As(err, &dns):
		return &told{"the host's name leads nowhere", err}
	case errors.As(err, &certificate):
		return &told{"the host's certificate is not trusted", err}
	case errors.As(err, &errno):
		return &told{errno.Error(), err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &told{"the host broke off", err}
	}
	return &told{"the host does not answer in HTTP", err}
}
