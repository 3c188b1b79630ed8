package hub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// The causes of failure, for errors.Is. Every error names the checkpoint or the
// file, what was expected and what was found.
var (
	// ErrName: a checkpoint's name or revision is not of the hub's form.
	ErrName = errors.New("not a checkpoint's name")
	// ErrUnpinned: nothing fixes the content, neither a commit hash, nor an
	// entry in the table of known checkpoints, nor a digest from the caller.
	ErrUnpinned = errors.New("the content is not pinned")
	// ErrFileName: a file name that could leave the folder, or that this
	// package does not fetch.
	ErrFileName = errors.New("refused file name")
	// ErrNoFile: the repository has no such file at that commit, or none that
	// could be loaded.
	ErrNoFile = errors.New("file not in the repository")
	// ErrDigest: the bytes are not the ones that the digest names.
	ErrDigest = errors.New("wrong digest")
	// ErrSize: a file is longer or shorter than it was said to be.
	ErrSize = errors.New("wrong size")
	// ErrTooLarge: the files together, or an answer, exceed the limit.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrNotFound: the hub answered 404.
	ErrNotFound = errors.New("not found on the hub")
	// ErrUnauthorized: the hub answered 401 or 403.
	ErrUnauthorized = errors.New("the hub asks for authorisation")
	// ErrUnreachable: no answer came from the hub at all.
	ErrUnreachable = errors.New("the hub cannot be reached")
	// ErrStalled: a connection gave no byte for Options.Stall.
	ErrStalled = errors.New("no data arrived in time")
	// ErrRedirect: a redirect to somewhere a checkpoint is not fetched from.
	ErrRedirect = errors.New("refused redirect")
	// ErrAnswer: an answer that the protocol does not have.
	ErrAnswer = errors.New("unexpected answer from the hub")
)

// StatusError is an HTTP status that ends a pull.
type StatusError struct {
	URL  string // without its query, which may hold a signature
	Code int
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("%s: HTTP status %d %s", e.URL, e.Code, http.StatusText(e.Code))
	if c := e.cause(); c != nil && c != ErrAnswer {
		s += ": " + c.Error()
	}
	return s
}

// Unwrap gives the sentinel of the status.
func (e *StatusError) Unwrap() error { return e.cause() }

func (e *StatusError) cause() error {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return ErrNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrUnauthorized
	}
	return ErrAnswer
}

// passing reports whether the same request may well succeed later.
func (e *StatusError) passing() bool {
	return e.Code == http.StatusRequestTimeout || e.Code == http.StatusTooManyRequests || e.Code >= 500
}

// plain returns an address without the parts that may hold a secret.
func plain(u *url.URL) string {
	v := *u
	v.RawQuery, v.Fragment, v.User = "", "", nil
	return v.String()
}
