package hub

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	for in, want := range map[string]Ref{
		"":                    DefaultCheckpoint,
		"gpt2":                {"gpt2", ""},
		"a/b":                 {"a/b", ""},
		"a/b@main":            {"a/b", "main"},
		"a/b@refs/pr/1":       {"a/b", "refs/pr/1"},
		"A.b-c/d_e@" + commit: {"A.b-c/d_e", commit},
	} {
		got, err := ParseRef(in)
		if err != nil || got != want {
			t.Errorf("ParseRef(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"a/b/c", "/a", "a/", "@main", "a/b@", "../x", "a/..", "a--b", "-a", "a.", "a b", "a/b@x y", "a/b@../c", "a/b@/c",
		"a\\b", "a/b?x", "a/b#x", "a%2fb", "ü", strings.Repeat("a", 97),
	} {
		if got, err := ParseRef(in); !errors.Is(err, ErrName) {
			t.Errorf("ParseRef(%q) = %v, %v; want %v", in, got, err, ErrName)
		}
	}
}

const commit = "12fd25f77366fa6b3b4b768ec3050bf629380bac"

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]*Options{
		"no options":         nil,
		"no cache":           {},
		"other scheme":       {Cache: "x", Endpoint: "ftp://host"},
		"no host":            {Cache: "x", Endpoint: "https://"},
		"query":              {Cache: "x", Endpoint: "https://host?a=b"},
		"password":           {Cache: "x", Endpoint: "https://u:p@host"},
		"token in the clear": {Cache: "x", Endpoint: "http://mirror.example", Token: "t"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: expected an error", name)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v shows the password", name, err)
		}
	}
	for name, o := range map[string]*Options{
		"default":                      {Cache: "x"},
		"mirror over http":             {Cache: "x", Endpoint: "http://mirror.example/hf/"},
		"token to this machine":        {Cache: "x", Endpoint: "http://127.0.0.1:1", Token: "t"},
		"token to this machine, IPv6":  {Cache: "x", Endpoint: "http://[::1]:1", Token: "t"},
		"token over https to a mirror": {Cache: "x", Endpoint: "https://mirror.example", Token: "t"},
	} {
		if _, err := New(o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// recorder is a transport that answers nothing and remembers the last request.
type recorder struct{ last *http.Request }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.last = req
	return nil, errors.New("recorded")
}

func TestTokenStaysAtItsOrigin(t *testing.T) {
	endpoint, _ := url.Parse("https://hub.example")
	base := &recorder{}
	a := &authorizer{endpoint: endpoint, token: "t", base: base}
	for address, want := range map[string]string{
		"https://hub.example/x":        "Bearer t",
		"https://hub.example:443/x":    "Bearer t",
		"https://hub.example:444/x":    "",
		"http://hub.example/x":         "",
		"https://cdn.hub.example/x":    "", // net/http alone would send it to a subdomain
		"https://hub.example.evil/x":   "",
		"https://evil/hub.example":     "",
		"https://hub.example@evil.com": "",
	} {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer copied")
		a.RoundTrip(req)
		if got := base.last.Header.Get("Authorization"); got != want {
			t.Errorf("%s: Authorization %q, want %q", address, got, want)
		}
	}
}

func TestRedirectFromEncrypted(t *testing.T) {
	from, _ := http.NewRequest(http.MethodGet, "https://hub.example/x", nil)
	to, _ := http.NewRequest(http.MethodGet, "http://storage.example/x?signature=secret", nil)
	err := checkRedirect(to, []*http.Request{from})
	if !errors.Is(err, ErrRedirect) || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want %v without the query", err, ErrRedirect)
	}
}

func TestProxy(t *testing.T) {
	h := newFakeHub(t)
	asked := 0
	c := h.client(func(o *Options) {
		o.Endpoint = "http://hub.example"
		o.Proxy = func(*http.Request) (*url.URL, error) {
			asked++
			return url.Parse(h.hub.URL) // a proxy gets the whole address in the request line
		}
	})
	if _, err := c.Pull(t.Context(), Ref{fakeName, "main"}, nil); !errors.Is(err, ErrUnpinned) || asked != 1 {
		t.Errorf("error %v after %d questions to the proxy function, want %v after 1", err, asked, ErrUnpinned)
	}
}

// TestProxyRefuses: a proxy that lets nobody through is no passing fault.
func TestProxyRefuses(t *testing.T) {
	asked := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	c, err := New(&Options{
		Endpoint: "https://hub.example", Cache: t.TempDir(),
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Pull(t.Context(), Ref{fakeName, fakeCommit}, nil)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "403") || asked != 1 {
		t.Errorf("error %v after %d requests, want %v after 1", err, asked, ErrUnreachable)
	}
}

func TestBranchWithSlashes(t *testing.T) {
	h := newFakeHub(t)
	_, err := h.client().Pull(t.Context(), Ref{fakeName, "refs/pr/1"}, nil)
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want %v", err, ErrNotFound)
	}
	if got := h.logged("/api/models/owner/tiny/revision/refs/pr/1"); len(got) != 1 {
		t.Errorf("requests %q", h.logged(""))
	}
}

// FuzzParseListing: a listing that is accepted has only paths that stay inside.
func FuzzParseListing(f *testing.F) {
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"a","size":1,"blobId":"x"}]}`))
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"../a","size":1}]}`))
	f.Add([]byte(`{"sha":"` + commit + `","siblings":[{"rfilename":"a","lfs":{"sha256":"y","size":9}}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		l, err := parseListing(body)
		if err != nil {
			return
		}
		for name := range l.files {
			for part := range strings.SplitSeq(name, "/") {
				if part == ".." || part == "" {
					t.Errorf("accepted %q", name)
				}
			}
		}
		if index, err := shards(body, l); err == nil {
			for _, f := range index {
				if strings.ContainsAny(f.Name, "/\\") {
					t.Errorf("accepted shard %q", f.Name)
				}
			}
		}
	})
}
