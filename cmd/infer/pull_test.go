package main

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testCommit = "0123456789abcdef0123456789abcdef01234567"

// tinyHub serves one repository, owner/tiny, from memory.
func tinyHub(t *testing.T, files map[string]string) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/models/owner/tiny/revision/") {
			var siblings []map[string]any
			for name, text := range files {
				sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
				siblings = append(siblings, map[string]any{"rfilename": name, "size": len(text), "blobId": hex.EncodeToString(sum[:])})
			}
			json.NewEncoder(w).Encode(map[string]any{"sha": testCommit, "siblings": siblings})
			return
		}
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/owner/tiny/resolve/"+testCommit+"/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(text))
	}))
	t.Cleanup(srv.Close)
	t.Setenv("HF_ENDPOINT", srv.URL)
	t.Setenv("HF_TOKEN", "")
	return srv
}

func TestPull(t *testing.T) {
	files := map[string]string{"config.json": "{}", "model.safetensors": "weights", "tokenizer.json": "{}", "other.gguf": "GGUF"}
	tinyHub(t, files)
	cache := t.TempDir()
	want := filepath.Join(cache, "owner--tiny", testCommit)
	o := invoke(t, "pull", "--cache", cache, "owner/tiny@"+testCommit).ok(t)
	if o.stdout != want+"\n" || o.stderr != "" {
		t.Errorf("stdout %q, stderr %q, want the folder %s alone", o.stdout, o.stderr, want)
	}
	if b, err := os.ReadFile(filepath.Join(want, "model.safetensors")); err != nil || string(b) != "weights" {
		t.Errorf("model.safetensors is %q (%v)", b, err)
	}

	var r pullResult
	if err := json.Unmarshal([]byte(invoke(t, "pull", "--cache", cache, "--json", "owner/tiny@"+testCommit).ok(t).stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Name != "owner/tiny" || r.Commit != testCommit || r.Folder != want || len(r.Files) != 3 || r.Fetched != 0 {
		t.Errorf("got %+v", r)
	}

	invoke(t, "pull", "--cache", cache, "--file", "other.gguf", "owner/tiny@"+testCommit).ok(t)
	if _, err := os.Stat(filepath.Join(want, "other.gguf")); err != nil {
		t.Error(err)
	}
}

func TestPullErrors(t *testing.T) {
	tinyHub(t, map[string]string{"config.json": "{}", "model.safetensors": "weights"})
	cache := t.TempDir()
	sum := sha256.Sum256([]byte("weights"))
	right, wrong := hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	invoke(t, "pull", "--cache", cache, "owner/tiny").fails(t, statusError, "at this moment it means owner/tiny@"+testCommit)
	invoke(t, "pull", "--cache", cache, "owner/other@"+testCommit).fails(t, statusError, "404")
	invoke(t, "pull", "--cache", cache, "--sha256", wrong, "owner/tiny").fails(t, statusError, "expected sha256 "+wrong+", found "+right)
	invoke(t, "pull", "--cache", cache, "--sha256", strings.ToUpper(right), "owner/tiny").ok(t)
	invoke(t, "pull", "--cache", t.TempDir(), "--max-gb", "0.000000001", "owner/tiny@"+testCommit).fails(t, statusError, "larger than the limit")
	t.Setenv("HF_ENDPOINT", "ftp://x")
	invoke(t, "pull", "--cache", cache).fails(t, statusError, "expected https://HOST")
}

// TestPullUnreachable: the default checkpoint is to be had elsewhere too.
func TestPullUnreachable(t *testing.T) {
	srv := tinyHub(t, nil)
	srv.Close()
	invoke(t, "pull", "--cache", t.TempDir()).fails(t, statusError, "`./run infer` in the source tree")
	invoke(t, "pull", "--cache", t.TempDir(), "owner/tiny@"+testCommit).fails(t, statusError, "HF_ENDPOINT")
}

// TestPullInterrupted: a signal, which is the cause of its own context's end.
func TestPullInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel(errors.New("a signal"))
		<-r.Context().Done()
	}))
	defer srv.Close()
	t.Setenv("HF_ENDPOINT", srv.URL)
	t.Setenv("HF_TOKEN", "")
	var stdout, stderr strings.Builder
	status := run(ctx, []string{"pull", "--cache", t.TempDir()}, strings.NewReader(""), &stdout, &stderr)
	if status != statusInterrupted || stdout.Len()+stderr.Len() > 0 {
		t.Errorf("status %d, stdout %q, stderr %q, want a silent %d", status, stdout.String(), stderr.String(), statusInterrupted)
	}
}
