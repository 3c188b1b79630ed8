package hub

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// newHTTPClient returns a client that follows redirects and keeps the token at
// home. It has no overall time limit: a large file takes as long as it takes,
// and a connection that stands still is ended by its reader.
func newHTTPClient(endpoint *url.URL, o *Options) *http.Client {
	connect := min(30*time.Second, o.Stall)
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &authorizer{
			endpoint:  endpoint,
			token:     o.Token,
			userAgent: o.UserAgent,
			base: &http.Transport{
				Proxy: o.Proxy,
				OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
					if resp.StatusCode != http.StatusOK {
						return fmt.Errorf("%w: the proxy %s refuses: %s", ErrUnreachable, proxy.Host, resp.Status)
					}
					return nil
				},
				DialContext:           dialer.DialContext,
				ForceAttemptHTTP2:     true,
				TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
				TLSHandshakeTimeout:   connect,
				ResponseHeaderTimeout: o.Stall,
				IdleConnTimeout:       time.Minute,
				MaxIdleConnsPerHost:   2,
			},
		},
		CheckRedirect: checkRedirect,
	}
}

// authorizer adds the token to requests for the endpoint itself. It decides by
// each request's own address, so that no chain of redirects can carry the token
// elsewhere, whatever the client above it copies from hop to hop.
type authorizer struct {
	endpoint         *url.URL
	token, userAgent string
	base             http.RoundTripper
}

func (a *authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	req.Header.Del("Referer") // a signed storage address is nobody else's business
	req.Header.Set("User-Agent", a.userAgent)
	if a.token != "" && sameOrigin(req.URL, a.endpoint) {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.base.RoundTrip(req)
}

// checkRedirect bounds redirects and keeps an encrypted fetch encrypted.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return fmt.Errorf("%w: more than 10 in a row, the last to %s", ErrRedirect, plain(req.URL))
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("%w: from https to %s", ErrRedirect, plain(req.URL))
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
