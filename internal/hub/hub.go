// Package hub fetches checkpoints from the Hugging Face hub, or from any server
// that speaks the same protocol, into a cache folder.
//
// Three requests make the protocol: GET /api/models/{name}/revision/{revision}
// lists a repository at a commit, GET /{name}/resolve/{commit}/{file} gives the
// bytes of a file, most often by a redirect to a storage host, and a Range
// header on the latter continues what was cut off.
//
// Nothing is kept whose digest was not known before it was asked for. The
// digests come from one of three places, the strongest first: from the caller
// (PullOptions.SHA256), from the table of known checkpoints in this package, or
// from the hub's own listing at a full commit hash: the SHA-256 of large files,
// the Git blob hash of small ones. The last one trusts the hub, over TLS, to
// list that commit truly; the first two trust nobody.
//
// The package reads no environment and logs nothing: endpoint, token, cache
// folder and proxy come in Options.
package hub

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultEndpoint is the hub that an empty Options.Endpoint means.
const DefaultEndpoint = "https://huggingface.co"

// Options configures a Client. The zero value of each field means its default.
type Options struct {
	// Endpoint is the hub's base address, http or https, without a query.
	// Default: DefaultEndpoint.
	Endpoint string

	// Token is sent as a bearer token, to the endpoint's own scheme, host and
	// port alone: never to the storage hosts that it redirects to, and never
	// over plain http unless the endpoint is this machine.
	Token string

	// Cache is the folder that holds one folder a repository and, in it, one a
	// commit. Required.
	Cache string

	// MaxBytes bounds the sum of the files of one pull, known or listed.
	// Default: 256 GiB.
	MaxBytes int64

	// Stall is how long a connection may go without a byte before it is given
	// up and continued anew. Default: one minute.
	Stall time.Duration

	// Attempts is how many times in a row a request may fail for a passing
	// reason without a byte of progress. Default: 5.
	Attempts int

	// Backoff is the wait before the second attempt; it doubles with each
	// further one, up to 16 times itself. Default: half a second.
	Backoff time.Duration

	// Progress, if set, is called from the pulling goroutine as bytes arrive.
	Progress func(Progress)

	// Proxy chooses a proxy for a request, as http.Transport's does. Default:
	// none.
	Proxy func(*http.Request) (*url.URL, error)

	// UserAgent names the program to the hub. Default: "leveret".
	UserAgent string
}

// Progress is how far a pull has come. Bytes that an earlier pull had already
// fetched count as done.
type Progress struct {
	File        string // the file at work
	Done, Total int64  // bytes of all files of the pull
}

// Client pulls checkpoints from one hub. It is safe for concurrent use, and
// two clients, of one process or of two, may pull the same checkpoint into the
// same cache: the second waits for the first.
type Client struct {
	opts     Options
	endpoint *url.URL
	http     *http.Client
}

// New returns a client. It fails on an endpoint that is not an http or https
// address, on a missing cache folder, and where the token would cross the
// network in the clear.
func New(opts *Options) (*Client, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Endpoint == "" {
		o.Endpoint = DefaultEndpoint
	}
	u, err := url.Parse(strings.TrimRight(o.Endpoint, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("hub: endpoint %q: %w", o.Endpoint, err)
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, fmt.Errorf("hub: endpoint %q: expected https://HOST or http://HOST", o.Endpoint)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("hub: endpoint %q: expected no user, query or fragment", u.Redacted())
	case o.Cache == "":
		return nil, fmt.Errorf("hub: no cache folder given")
	case o.Token != "" && u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("hub: endpoint %s: a token is not sent over plain http", u)
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 256 << 30
	}
	if o.Stall <= 0 {
		o.Stall = time.Minute
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	if o.Backoff <= 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.UserAgent == "" {
		o.UserAgent = "leveret"
	}
	return &Client{opts: o, endpoint: u, http: newHTTPClient(u, &o)}, nil
}
