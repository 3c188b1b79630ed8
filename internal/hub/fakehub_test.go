package hub

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	fakeName   = "owner/tiny"
	fakeCommit = "0123456789abcdef0123456789abcdef01234567"
)

// fakeHub is a hub on this machine with one repository. Its storage host is
// another server, as the real hub's is.
type fakeHub struct {
	t       *testing.T
	hub     *httptest.Server
	storage *httptest.Server

	mu        sync.Mutex
	files     map[string][]byte
	large     map[string]bool // kept in large-file storage: a SHA-256, a redirect
	listing   func() []byte   // replaces the listing
	handle    func(w http.ResponseWriter, r *http.Request, name string) bool
	etag      func(name string) string
	noIfRange bool           // If-Range is ignored
	cut       map[string]int // connections of this file break after so many bytes, once each
	requests  []string       // "GET path [Range] [If-Range] auth=…"
}

func newFakeHub(t *testing.T) *fakeHub {
	h := &fakeHub{
		t: t,
		files: map[string][]byte{
			"config.json":       []byte(`{"model_type":"llama"}`),
			"tokenizer.json":    []byte(`{"model":{}}`),
			"model.safetensors": pattern(300_000),
			"README.md":         []byte("# not needed"),
			"onnx/model.onnx":   []byte("not needed"),
		},
		large: map[string]bool{"model.safetensors": true},
		cut:   map[string]int{},
	}
	h.etag = func(name string) string { return `"` + sha(h.files[name])[:16] + `"` }
	h.hub = httptest.NewServer(http.HandlerFunc(h.serveHub))
	h.storage = httptest.NewServer(http.HandlerFunc(h.serveStorage))
	t.Cleanup(h.hub.Close)
	t.Cleanup(h.storage.Close)
	return h
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func sha(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func gitSHA(b []byte) string {
	s := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(s[:])
}

func (h *fakeHub) log(where string, r *http.Request) {
	line := where + " " + r.URL.Path
	for _, k := range []string{"Range", "If-Range", "Authorization"} {
		if v := r.Header.Get(k); v != "" {
			line += " " + k + "=" + v
		}
	}
	h.requests = append(h.requests, line)
}

// logged returns the requests whose line contains s.
func (h *fakeHub) logged(s string) (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.requests {
		if strings.Contains(l, s) {
			lines = append(lines, l)
		}
	}
	return lines
}

func (h *fakeHub) list() []byte {
	type m = map[string]any
	var siblings []m
	for name, b := range h.files {
		s := m{"rfilename": name, "size": len(b), "blobId": gitSHA(b)}
		if h.large[name] {
			s["blobId"] = strings.Repeat("0", 40)
			s["lfs"] = m{"sha256": sha(b), "size": len(b), "pointerSize": 134}
		}
		siblings = append(siblings, s)
	}
	b, err := json.Marshal(m{"sha": fakeCommit, "siblings": siblings})
	if err != nil {
		h.t.Error(err)
	}
	return b
}

func (h *fakeHub) serveHub(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log("hub", r)
	if rev, ok := strings.CutPrefix(r.URL.Path, "/api/models/"+fakeName+"/revision/"); ok {
		if rev != "main" && rev != fakeCommit {
			http.NotFound(w, r)
			return
		}
		if h.listing != nil {
			w.Write(h.listing())
			return
		}
		w.Write(h.list())
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/"+fakeName+"/resolve/"+fakeCommit+"/")
	if !ok || h.files[name] == nil {
		http.NotFound(w, r)
		return
	}
	if h.handle != nil && h.handle(w, r, name) {
		return
	}
	if h.large[name] {
		http.Redirect(w, r, h.storage.URL+"/blob/"+name+"?signature=secret", http.StatusFound)
		return
	}
	h.serve(w, r, name)
}

func (h *fakeHub) serveStorage(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log("storage", r)
	name := strings.TrimPrefix(r.URL.Path, "/blob/")
	if h.files[name] == nil || r.URL.RawQuery != "signature=secret" {
		http.NotFound(w, r)
		return
	}
	h.serve(w, r, name)
}

// serve gives a file, ranges and validators included.
func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request, name string) {
	if e := h.etag(name); e != "" {
		w.Header().Set("ETag", e)
	}
	if h.noIfRange {
		r.Header.Del("If-Range")
	}
	if n, ok := h.cut[name]; ok {
		delete(h.cut, name)
		w = &cutWriter{ResponseWriter: w, left: n}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(h.files[name]))
}

// cutWriter breaks the connection after some bytes of the body.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// client returns a client of the fake hub with a fresh cache, impatient enough
// for tests.
func (h *fakeHub) client(change ...func(*Options)) *Client {
	o := &Options{Endpoint: h.hub.URL, Cache: h.t.TempDir(), Backoff: time.Millisecond, Stall: 5 * time.Second}
	for _, f := range change {
		f(o)
	}
	c, err := New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func fakeRef() Ref { return Ref{Name: fakeName, Revision: fakeCommit} }
