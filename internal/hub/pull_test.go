package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	sort.Strings(out)
	return out
}

func checkFiles(t *testing.T, h *fakeHub, dir string, want ...string) {
	t.Helper()
	all := append([]string{manifestName}, want...)
	sort.Strings(all)
	if diff := cmp.Diff(all, names(t, dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	for _, n := range want {
		b, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil || string(b) != string(h.files[n]) {
			t.Errorf("%s: content differs (%v)", n, err)
		}
	}
}

func TestPull(t *testing.T) {
	h := newFakeHub(t)
	var last Progress
	c := h.client(func(o *Options) { o.Progress = func(p Progress) { last = p } })
	r, err := c.Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(c.opts.Cache, "owner--tiny", fakeCommit); r.Dir != want {
		t.Errorf("folder %s, want %s", r.Dir, want)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
	total := int64(len(h.files["config.json"]) + len(h.files["tokenizer.json"]) + 300_000)
	if last.Done != total || last.Total != total || r.Fetched != total {
		t.Errorf("progress %+v, fetched %d, want %d", last, r.Fetched, total)
	}

	// Again: everything is read, nothing is asked for.
	before := len(h.logged(""))
	again, err := c.Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.logged("")); n != before || again.Fetched != 0 {
		t.Errorf("a second pull sent %d requests and fetched %d bytes", n-before, again.Fetched)
	}
	if diff := cmp.Diff(r.Files, again.Files); diff != "" {
		t.Errorf("files (-first +second):\n%s", diff)
	}

	// A damaged file is fetched anew, and only that one.
	if err := os.WriteFile(filepath.Join(r.Dir, "tokenizer.json"), []byte(`{"model":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	mended, err := c.Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
	if mended.Fetched != int64(len(h.files["tokenizer.json"])) {
		t.Errorf("mending fetched %d bytes", mended.Fetched)
	}
}

func TestPullResumes(t *testing.T) {
	for _, test := range []struct {
		name    string
		etag    string
		request string // the second connection's, at the storage host
	}{
		{"strong validator", `"v1"`, `Range=bytes=100000- If-Range="v1"`},
		{"weak validator", `W/"v1"`, `Range=bytes=100000-`},
		{"no validator", ``, `Range=bytes=100000-`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t)
			h.etag = func(string) string { return test.etag }
			h.cut["model.safetensors"] = 100_000
			r, err := h.client().Pull(context.Background(), fakeRef(), nil)
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
			got := h.logged("storage /blob/model.safetensors")
			if len(got) != 2 || got[1] != "storage /blob/model.safetensors "+test.request {
				t.Errorf("requests %q, want the second with %s", got, test.request)
			}
		})
	}
}

// TestPullResumesAcrossProcesses cuts every attempt of a first pull; a second
// client with the same cache goes on where it stopped.
func TestPullResumesAcrossProcesses(t *testing.T) {
	h := newFakeHub(t)
	h.cut["model.safetensors"] = 100_000
	one := h.client(func(o *Options) { o.Attempts = 1 })
	if _, err := one.Pull(context.Background(), fakeRef(), nil); err == nil {
		t.Fatal("a cut connection and one attempt: expected an error")
	}
	if got := names(t, filepath.Join(one.opts.Cache, "owner--tiny")); len(got) != 2 || !strings.HasSuffix(got[1], ".partial") {
		t.Errorf("after a failure the cache shows %v", got)
	}
	two := h.client(func(o *Options) { o.Cache = one.opts.Cache })
	r, err := two.Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
	if r.Fetched != 200_000 {
		t.Errorf("the second pull fetched %d bytes, want the missing 200000", r.Fetched)
	}
}

// TestPullChangedValidator: the part is of another version of the file. A
// server that knows If-Range sends the whole; one that does not sends the rest,
// the digest does not fit, and the file is fetched once more from its start.
func TestPullChangedValidator(t *testing.T) {
	for _, ifRange := range []bool{true, false} {
		t.Run(fmt.Sprintf("server knows If-Range %t", ifRange), func(t *testing.T) {
			h := newFakeHub(t)
			right := h.files["model.safetensors"]
			c := h.client(func(o *Options) { o.Attempts = 1 })
			// The first process got the head of other bytes under the same digest.
			list := h.list()
			h.listing = func() []byte { return list }
			wrong := pattern(300_000)
			wrong[5] ^= 1
			h.files["model.safetensors"] = wrong
			h.cut["model.safetensors"] = 100_000
			if _, err := c.Pull(context.Background(), fakeRef(), nil); err == nil {
				t.Fatal("expected the first pull to be cut")
			}
			h.files["model.safetensors"] = right
			h.noIfRange = !ifRange
			r, err := c.Pull(context.Background(), fakeRef(), nil)
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
			want := 2 // cut, then the whole
			if !ifRange {
				want = 3 // cut, the rest, the whole
			}
			if got := h.logged("storage"); len(got) != want {
				t.Errorf("requests %q, want %d", got, want)
			}
		})
	}
}

func TestPullRefuses(t *testing.T) {
	commit := fakeRef()
	for _, test := range []struct {
		name   string
		ref    Ref
		opts   PullOptions
		set    func(h *fakeHub)
		change func(o *Options)
		want   error
		says   string
	}{
		{
			name: "wrong bytes", ref: commit, want: ErrDigest, says: "model.safetensors",
			set: func(h *fakeHub) {
				list := h.list()
				h.listing = func() []byte { return list }
				h.files["model.safetensors"] = append([]byte{1}, pattern(299_999)...)
			},
		},
		{
			name: "wrong bytes of a small file", ref: commit, want: ErrDigest, says: "config.json: wrong digest: expected Git blob",
			set: func(h *fakeHub) {
				list := h.list()
				h.listing = func() []byte { return list }
				h.files["config.json"] = []byte(`{"model_type":"llamb"}`)
			},
		},
		{
			name: "longer than listed", ref: commit, want: ErrSize, says: "the server has 300001",
			set: func(h *fakeHub) {
				list := h.list()
				h.listing = func() []byte { return list }
				h.files["model.safetensors"] = pattern(300_001)
			},
		},
		{
			name: "longer than listed, length not given", ref: commit, want: ErrSize, says: "the server has more",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					if name != "config.json" {
						return false
					}
					w.(http.Flusher).Flush() // chunked
					for range 100 {
						w.Write(h.files[name])
					}
					return true
				}
			},
		},
		{
			name: "shorter than listed", ref: commit, want: ErrSize, says: "the server has 299999",
			set: func(h *fakeHub) {
				list := h.list()
				h.listing = func() []byte { return list }
				h.files["model.safetensors"] = pattern(299_999)
			},
		},
		{name: "no such repository", ref: Ref{"owner/other", fakeCommit}, want: ErrNotFound, says: "404"},
		{
			name: "no such file at the storage host", ref: commit, want: ErrNotFound, says: "/blob/model.safetensors: HTTP status 404",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					if name == "model.safetensors" {
						http.Redirect(w, r, h.storage.URL+"/blob/model.safetensors?signature=stale", http.StatusFound)
						return true
					}
					return false
				}
			},
		},
		{
			name: "not allowed", ref: commit, want: ErrUnauthorized, says: "401",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					w.WriteHeader(http.StatusUnauthorized)
					return true
				}
			},
		},
		{
			name: "gated", ref: commit, want: ErrUnauthorized, says: "403",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					w.WriteHeader(http.StatusForbidden)
					return true
				}
			},
		},
		{
			name: "redirects without end", ref: commit, want: ErrRedirect, says: "more than 10",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					http.Redirect(w, r, r.URL.Path, http.StatusFound)
					return true
				}
			},
		},
		{
			name: "a server that fails", ref: commit, want: ErrAnswer, says: "503",
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					w.WriteHeader(http.StatusServiceUnavailable)
					return true
				}
			},
		},
		{
			name: "a range that was not asked for", ref: commit, want: ErrAnswer, says: `Content-Range "bytes 5-21/22"`,
			set: func(h *fakeHub) {
				h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
					w.Header().Set("Content-Range", "bytes 5-21/22")
					w.WriteHeader(http.StatusPartialContent)
					return true
				}
			},
		},
		{
			name: "path out of the folder", ref: commit, want: ErrFileName, says: `"../../.profile"`,
			set: func(h *fakeHub) { h.files["../../.profile"] = []byte("x") },
		},
		{
			name: "absolute path", ref: commit, want: ErrFileName, says: `"/etc/passwd"`,
			set: func(h *fakeHub) { h.files["/etc/passwd"] = []byte("x") },
		},
		{
			name: "backslashes", ref: commit, want: ErrFileName,
			set: func(h *fakeHub) { h.files[`..\x`] = []byte("x") },
		},
		{
			name: "shard out of the folder", ref: commit, want: ErrFileName, says: `tensor "a"`,
			set: func(h *fakeHub) {
				delete(h.files, "model.safetensors")
				h.files[indexName] = []byte(`{"weight_map":{"a":"../x.safetensors"}}`)
			},
		},
		{
			name: "shard of another kind", ref: commit, want: ErrFileName,
			set: func(h *fakeHub) {
				delete(h.files, "model.safetensors")
				h.files[indexName] = []byte(`{"weight_map":{"a":"run.sh"}}`)
			},
		},
		{
			name: "missing shard", ref: commit, want: ErrNoFile, says: "model-1.safetensors",
			set: func(h *fakeHub) {
				delete(h.files, "model.safetensors")
				h.files[indexName] = []byte(`{"weight_map":{"a":"model-1.safetensors"}}`)
			},
		},
		{
			name: "no weights", ref: commit, want: ErrNoFile, says: "the repository has tiny.Q4.gguf",
			set: func(h *fakeHub) {
				delete(h.files, "model.safetensors")
				h.files["tiny.Q4.gguf"] = []byte("GGUF")
			},
		},
		{
			name: "listing of another commit", ref: commit, want: ErrAnswer, says: "ffff",
			set: func(h *fakeHub) {
				list := strings.Replace(string(h.list()), fakeCommit, strings.Repeat("f", 40), 1)
				h.listing = func() []byte { return []byte(list) }
			},
		},
		{
			name: "listing that is not JSON", ref: commit, want: ErrAnswer,
			set: func(h *fakeHub) { h.listing = func() []byte { return []byte("<html>") } },
		},
		{
			name: "listing without digests", ref: commit, want: ErrUnpinned, says: "config.json",
			set: func(h *fakeHub) {
				h.listing = func() []byte {
					return []byte(`{"sha":"` + fakeCommit + `","siblings":[{"rfilename":"config.json","size":3},{"rfilename":"model.safetensors","size":3}]}`)
				}
			},
		},
		{
			name: "listing without sizes", ref: commit, want: ErrAnswer, says: "config.json",
			set: func(h *fakeHub) {
				h.listing = func() []byte {
					return []byte(`{"sha":"` + fakeCommit + `","siblings":[{"rfilename":"config.json"},{"rfilename":"model.safetensors","size":3}]}`)
				}
			},
		},
		{
			name: "too large", ref: commit, want: ErrTooLarge, says: "model.safetensors of 300000 bytes",
			change: func(o *Options) { o.MaxBytes = 100_000 },
		},
		{name: "branch", ref: Ref{fakeName, "main"}, want: ErrUnpinned, says: "at this moment it means " + fakeName + "@" + fakeCommit},
		{name: "no revision", ref: Ref{Name: fakeName}, want: ErrUnpinned, says: fakeCommit},
		{
			name: "caller's digest is another", ref: commit, want: ErrDigest, says: "expected sha256 " + strings.Repeat("a", 64),
			opts: PullOptions{SHA256: map[string]string{"model.safetensors": strings.Repeat("a", 64)}},
		},
		{
			name: "caller's digest of a small file is another", ref: commit, want: ErrDigest, says: "config.json",
			opts: PullOptions{SHA256: map[string]string{"config.json": strings.Repeat("a", 64)}},
		},
		{
			name: "caller's digest of a file that is not fetched", ref: commit, want: ErrNoFile, says: "README.md",
			opts: PullOptions{SHA256: map[string]string{"README.md": strings.Repeat("a", 64)}},
		},
		{
			name: "named file that is not there", ref: commit, want: ErrNoFile, says: "other.gguf",
			opts: PullOptions{Files: []string{"other.gguf"}},
		},
		{
			name: "named file in a folder", ref: commit, want: ErrFileName, says: "onnx/model.onnx",
			opts: PullOptions{Files: []string{"onnx/model.onnx"}},
		},
		{
			name: "named hidden file", ref: commit, want: ErrFileName,
			opts: PullOptions{Files: []string{".gitattributes"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t)
			if test.set != nil {
				test.set(h)
			}
			c := h.client(func(o *Options) {
				if test.change != nil {
					test.change(o)
				}
			})
			_, err := c.Pull(context.Background(), test.ref, &test.opts)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q does not say %q", err, test.says)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "stale") {
				t.Errorf("error %q shows a signature", err)
			}
			// Whatever went wrong, no finished checkpoint and no wrong part is left.
			filepath.WalkDir(c.opts.Cache, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.IsDir() && d.Name() == fakeCommit {
					t.Errorf("%s exists", path)
				}
				if err == nil && !d.IsDir() && errors.Is(test.want, ErrDigest) && strings.Contains(d.Name(), partSuffix) {
					t.Errorf("%s is left", path)
				}
				return nil
			})
		})
	}
}

func TestPullPinnedByCaller(t *testing.T) {
	h := newFakeHub(t)
	opts := &PullOptions{SHA256: map[string]string{"model.safetensors": sha(h.files["model.safetensors"])}}
	r, err := h.client().Pull(context.Background(), Ref{fakeName, "main"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ref != fakeRef() {
		t.Errorf("fetched %s, want the commit that main means", r.Ref)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
}

func TestPullNamedFilesThenAll(t *testing.T) {
	h := newFakeHub(t)
	c := h.client()
	r, err := c.Pull(context.Background(), fakeRef(), &PullOptions{Files: []string{"README.md"}})
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "README.md")
	if r, err = c.Pull(context.Background(), fakeRef(), nil); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "README.md", "config.json", "model.safetensors", "tokenizer.json")
}

func TestPullShards(t *testing.T) {
	h := newFakeHub(t)
	delete(h.files, "model.safetensors")
	one, two := "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	h.files[one], h.files[two] = pattern(1000), pattern(2000)
	h.files["model-00003-of-00003.safetensors"] = pattern(10) // not in the index
	h.large[one], h.large[two] = true, true
	h.files[indexName] = fmt.Appendf(nil, `{"metadata":{},"weight_map":{"a":%q,"b":%q,"c":%q}}`, one, two, one)
	r, err := h.client().Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "config.json", one, two, indexName, "tokenizer.json")

	// A pin of one shard is not a pin of the weights.
	opts := &PullOptions{SHA256: map[string]string{one: sha(h.files[one])}}
	if _, err := h.client().Pull(context.Background(), Ref{fakeName, "main"}, opts); !errors.Is(err, ErrUnpinned) {
		t.Errorf("error %v, want %v", err, ErrUnpinned)
	}
}

// TestPullToken: the token goes to the endpoint alone, whichever way the
// redirects lead.
func TestPullToken(t *testing.T) {
	h := newFakeHub(t)
	if _, err := h.client(func(o *Options) { o.Token = "hf_x" }).Pull(context.Background(), fakeRef(), nil); err != nil {
		t.Fatal(err)
	}
	for _, l := range h.logged("hub ") {
		if !strings.Contains(l, "Authorization=Bearer hf_x") {
			t.Errorf("without a token: %s", l)
		}
	}
	storage := h.logged("storage ")
	if len(storage) == 0 {
		t.Error("no request reached the storage host")
	}
	for _, l := range storage {
		if strings.Contains(l, "Authorization") {
			t.Errorf("token sent to the storage host: %s", l)
		}
	}
}

func TestPullRetries(t *testing.T) {
	h := newFakeHub(t)
	fail := 3
	h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
		if name != "config.json" || fail == 0 {
			return false
		}
		fail--
		switch fail {
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			panic(http.ErrAbortHandler)
		}
		return true
	}
	r, err := h.client().Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
}

// TestPullStalls: a server that stops sending is left and asked again.
func TestPullStalls(t *testing.T) {
	h := newFakeHub(t)
	stalled := false
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	h.handle = func(w http.ResponseWriter, r *http.Request, name string) bool {
		if name != "tokenizer.json" || stalled {
			return false
		}
		stalled = true
		w.Header().Set("Content-Length", fmt.Sprint(len(h.files[name])))
		w.Write(h.files[name][:5])
		w.(http.Flusher).Flush()
		h.mu.Unlock() // let the second request in
		select {
		case <-release:
		case <-r.Context().Done():
		}
		h.mu.Lock()
		return true
	}
	r, err := h.client(func(o *Options) { o.Stall = 50 * time.Millisecond }).Pull(context.Background(), fakeRef(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkFiles(t, h, r.Dir, "config.json", "model.safetensors", "tokenizer.json")
	if got := h.logged("tokenizer.json Range=bytes=5-"); len(got) != 1 {
		t.Errorf("requests %q, want one that continues at byte 5", h.logged("tokenizer.json"))
	}
}

func TestPullCancelled(t *testing.T) {
	h := newFakeHub(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := h.client(func(o *Options) {
		o.Progress = func(p Progress) {
			if p.File == "model.safetensors" {
				cancel()
			}
		}
	})
	if _, err := c.Pull(ctx, fakeRef(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestPullUnreachable(t *testing.T) {
	h := newFakeHub(t)
	h.hub.Close()
	_, err := h.client().Pull(context.Background(), fakeRef(), nil)
	if !errors.Is(err, ErrUnreachable) {
		t.Errorf("error %v, want %v", err, ErrUnreachable)
	}
}

// TestPullTogether: two pulls of one checkpoint at a time end well, and the
// second has nothing to fetch.
func TestPullTogether(t *testing.T) {
	h := newFakeHub(t)
	cache := t.TempDir()
	var wg sync.WaitGroup
	var fetched [2]int64
	for i := range fetched {
		wg.Go(func() {
			r, err := h.client(func(o *Options) { o.Cache = cache }).Pull(context.Background(), fakeRef(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			fetched[i] = r.Fetched
		})
	}
	wg.Wait()
	if min(fetched[0], fetched[1]) != 0 || max(fetched[0], fetched[1]) < 300_000 {
		t.Errorf("fetched %v, want all by one and nothing by the other", fetched)
	}
}

// TestPullIntoLinks: links in the cache that lead out of it are not followed.
func TestPullIntoLinks(t *testing.T) {
	h := newFakeHub(t)
	c := h.client()
	outside := filepath.Join(t.TempDir(), "outside")
	staging := filepath.Join(c.opts.Cache, "owner--tiny", "."+fakeCommit+".partial")
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(staging, "config.json.part")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pull(context.Background(), fakeRef(), nil); err == nil {
		t.Error("expected an error")
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file was made outside the cache")
	}
}

func TestKnownNeedsNoListing(t *testing.T) {
	h := newFakeHub(t)
	r, files, ok := Known(Ref{Name: DefaultCheckpoint.Name})
	if !ok || r != DefaultCheckpoint {
		t.Fatalf("Known gave %v %v", r, ok)
	}
	for _, f := range files {
		if !isHex(f.SHA256, 64) || f.Size <= 0 || checkFileName(f.Name) != nil {
			t.Errorf("%+v is not pinned", f)
		}
	}
	_, err := h.client().Pull(context.Background(), Ref{}, nil)
	if !errors.Is(err, ErrName) {
		t.Errorf("a pull of nothing: error %v, want %v", err, ErrName)
	}
	// The fake hub does not have it: the first request is for a file.
	if _, err = h.client().Pull(context.Background(), r, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want %v", err, ErrNotFound)
	}
	if got := h.logged("/api/"); len(got) != 0 {
		t.Errorf("the hub was asked for a listing: %q", got)
	}
}
