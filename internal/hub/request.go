package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// do sends a request whose body, when read, fails with ErrStalled once no byte
// has come for Options.Stall. stop ends the request and must be called.
func (c *Client) do(req *http.Request) (resp *http.Response, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err = c.http.Do(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, nil, clean(req.Context(), err)
	}
	timer := time.AfterFunc(c.opts.Stall, func() { cancel(ErrStalled) })
	resp.Body = &stallReader{ReadCloser: resp.Body, ctx: ctx, outer: req.Context(), timer: timer, stall: c.opts.Stall}
	return resp, func() {
		timer.Stop()
		cancel(nil)
		resp.Body.Close()
	}, nil
}

// stallReader restarts its timer with every read.
type stallReader struct {
	io.ReadCloser
	ctx, outer context.Context
	timer      *time.Timer
	stall      time.Duration
}

func (r *stallReader) Read(p []byte) (int, error) {
	r.timer.Reset(r.stall)
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		if errors.Is(context.Cause(r.ctx), ErrStalled) && r.outer.Err() == nil {
			return n, fmt.Errorf("%w: %s", ErrStalled, r.stall)
		}
		return n, clean(r.outer, err)
	}
	return n, err
}

// clean strips addresses of their queries, which may hold signatures, from an
// error of net/http, and names an unreachable hub.
func clean(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		at := ue.URL
		if u, perr := url.Parse(ue.URL); perr == nil {
			at = plain(u)
		}
		err = fmt.Errorf("%s: %w", at, ue.Err)
	}
	var op *net.OpError
	var dns *net.DNSError
	if errors.As(err, &dns) || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return fmt.Errorf("%w: %w", ErrStalled, err)
	}
	return err
}

// retry calls f until it succeeds or fails for good. f reports whether it made
// progress, which starts the count of attempts anew.
func (c *Client) retry(ctx context.Context, f func() (progress bool, err error)) error {
	for failures := 0; ; {
		progress, err := f()
		if err == nil {
			return nil
		}
		if progress {
			failures = 0
		}
		failures++
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !passing(err) || failures >= c.opts.Attempts {
			return err
		}
		wait := c.opts.Backoff << min(failures-1, 4)
		var after retryAfter
		if errors.As(err, &after) {
			wait = max(wait, min(after.wait, time.Minute))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// passing reports whether an error may be gone at the next attempt. A hub that
// cannot be reached at all is reported at once.
func passing(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.passing()
	}
	for _, final := range []error{
		ErrUnreachable, ErrRedirect, ErrAnswer, ErrSize, ErrDigest, ErrTooLarge, errLocal,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true // cut connections, stalls
}

// errLocal marks failures of this machine's disk.
var errLocal = errors.New("local file")

// retryAfter carries the wait that a 429 or 503 asks for.
type retryAfter struct {
	error
	wait time.Duration
}

func (r retryAfter) Unwrap() error { return r.error }

// statusError returns the error of an answer, with the wait that it asks for.
func statusError(resp *http.Response) error {
	var err error = &StatusError{URL: plain(resp.Request.URL), Code: resp.StatusCode}
	if s, perr := strconv.Atoi(resp.Header.Get("Retry-After")); perr == nil && s > 0 {
		return retryAfter{err, time.Duration(min(s, 3600)) * time.Second}
	}
	return err
}
