package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/agent"
)

func TestReadFile(t *testing.T) {
	s := newSandbox(t, nil)
	read := s.tools["read_file"]
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"path": "notes.txt"}, "18 bytes\nfirst line\nsecond\n"},
		{map[string]any{"path": "/notes.txt"}, "18 bytes\nfirst line\nsecond\n"},
		{map[string]any{"path": "//./sub//a.txt"}, "6 bytes\nin sub"},
		{map[string]any{"path": "empty"}, "0 bytes\n"},
		{map[string]any{"path": "notes.txt", "limit": 5}, "18 bytes, truncated, next offset 5\nfirst"},
		{map[string]any{"path": "notes.txt", "offset": 5, "limit": 5}, "18 bytes, from offset 5, truncated, next offset 10\n line"},
		{map[string]any{"path": "notes.txt", "offset": 11}, "18 bytes, from offset 11\nsecond\n"},
		{map[string]any{"path": "notes.txt", "offset": 18}, "18 bytes, from offset 18\n"},
		{map[string]any{"path": "notes.txt", "offset": json.Number("1.1e1"), "limit": json.Number("2.0")}, "18 bytes, from offset 11, truncated, next offset 13\nse"},
		// a é(2) 😀(4) z: a cut inside a character moves to its border.
		{map[string]any{"path": "é😀", "limit": 2}, "8 bytes, truncated, next offset 1\na"},
		{map[string]any{"path": "é😀", "limit": 3}, "8 bytes, truncated, next offset 3\naé"},
		{map[string]any{"path": "é😀", "limit": 6}, "8 bytes, truncated, next offset 3\naé"},
		{map[string]any{"path": "é😀", "limit": 1, "offset": 3}, "8 bytes, from offset 3, truncated, next offset 7\n😀"},
		{map[string]any{"path": "é😀", "offset": 5}, "8 bytes, from offset 3\n😀z"},
		{map[string]any{"path": "é😀", "offset": 2, "limit": 2}, "8 bytes, from offset 1, truncated, next offset 3\né"},
	} {
		if got, err := call(t, read, c.args); err != nil || got != c.want {
			t.Errorf("%v: %v, %q, want %q", c.args, err, got, c.want)
		}
	}
	for _, c := range []struct {
		args map[string]any
		text string
	}{
		{map[string]any{"path": "absent"}, "no such file"},
		{map[string]any{"path": "notes.txt/x"}, "no such file"},
		{map[string]any{"path": "sub"}, "it is a folder, not a file"},
		{map[string]any{"path": "/"}, "it is a folder, not a file"},
		{map[string]any{"path": ""}, "path is empty"},
		{map[string]any{"path": "notes.txt", "offset": 19}, "offset 19 is beyond the end: the file has 18 bytes"},
		{map[string]any{"path": "notes.txt", "offset": -1}, "whole number"},
		{map[string]any{"path": "notes.txt", "offset": 1.5}, "whole number"},
		{map[string]any{"path": strings.Repeat("a", 300)}, "file name too long"},
		{map[string]any{"path": 7}, "cannot unmarshal"},
	} {
		if got, err := call(t, read, c.args); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, %q, want an error with %q", c.args, err, got, c.text)
		}
	}
}

// Following "next offset" shows every byte of a file once, in whole characters,
// whatever the limit.
func TestReadFileGoesOn(t *testing.T) {
	s := newSandbox(t, nil)
	for name, text := range map[string]string{
		"runes":   strings.Repeat("aé€😀\n", 40),
		"binary":  strings.Repeat("\xff\x80\xc3\xe2\x82\x00😀", 30) + "\xf0\x9f\x98",
		"five":    strings.Repeat(strings.Repeat("x", 20000)+"\n", 5), // row A7 of the cases
		"trailer": strings.Repeat("\x80", 17),
	} {
		must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
		for _, limit := range []int{1, 2, 3, 4, 5, 7, 64, 16384, 65536} {
			if len(text) > 1000 && limit < 64 {
				continue
			}
			var got strings.Builder
			offset := 0
			for {
				raw, err := json.Marshal(map[string]any{"path": name, "offset": offset, "limit": limit})
				must(t, err)
				r, err := s.tools["read_file"].Call(context.Background(), raw)
				must(t, err)
				if len(r.Text) > max(limit, utf8.UTFMax) {
					t.Fatalf("%s, limit %d: %d bytes", name, limit, len(r.Text))
				}
				got.WriteString(r.Text)
				head := r.Head(len(r.Text))
				_, next, more := strings.Cut(head, "next offset ")
				if !more {
					break
				}
				before := offset
				if _, err := fmt.Sscanf(next, "%d", &offset); err != nil || offset <= before {
					t.Fatalf("%s, limit %d: after offset %d: %q", name, limit, before, head)
				}
				if name == "runes" && !utf8.ValidString(r.Text) {
					t.Fatalf("%s, limit %d: %q", name, limit, r.Text)
				}
			}
			if got.String() != text {
				t.Errorf("%s, limit %d: what was read is not the file: %q", name, limit, got.String())
			}
		}
	}
}

// The agent's limit on results moves the offset that the model is told.
func TestReadFileUnderTheResultLimit(t *testing.T) {
	s := newSandbox(t, nil)
	raw := json.RawMessage(`{"path":"é😀"}`)
	r, err := s.tools["read_file"].Call(context.Background(), raw)
	must(t, err)
	if head := r.Head(3); head != "8 bytes, truncated, next offset 3" {
		t.Error(head)
	}
	must(t, os.WriteFile(filepath.Join(s.dir, "bin"), []byte("ab\xffcd"), 0o644))
	if got, err := call(t, s.tools["read_file"], map[string]any{"path": "bin"}); err != nil || got != "5 bytes, not all of it UTF-8\nab\xffcd" {
		t.Errorf("%v, %q", err, got)
	}
}

func TestMaxRead(t *testing.T) {
	s := newSandbox(t, &FilesOptions{MaxRead: 4, ReadOnly: true})
	if got, err := call(t, s.tools["read_file"], map[string]any{"path": "notes.txt", "limit": 100}); err != nil || got != "18 bytes, truncated, next offset 4\nfirs" {
		t.Errorf("%v, %q", err, got)
	}
	if s.tools["write_file"] != nil {
		t.Error("a read-only folder has write_file")
	}
	if !strings.Contains(string(s.tools["read_file"].Schema()), `"maximum":4,`) {
		t.Errorf("schema %s", s.tools["read_file"].Schema())
	}
}

func TestListDir(t *testing.T) {
	s := newSandbox(t, nil)
	must(t, os.WriteFile(filepath.Join(s.dir, "sub", "two\nlines"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(s.dir, "sub", "bad\xff"), nil, 0o644))
	for _, c := range []struct{ path, want string }{
		{"/", "4 entries\nempty\nnotes.txt\nsub/\né😀"},
		{".", "4 entries\nempty\nnotes.txt\nsub/\né😀"},
		{"sub", "4 entries\n\"bad\\xff\"\n\"two\\nlines\"\na.txt\ndeep/"},
		{"/sub/deep/", "0 entries\n"},
	} {
		if got, err := call(t, s.tools["list_dir"], map[string]any{"path": c.path}); err != nil || got != c.want {
			t.Errorf("%s: %v, %q, want %q", c.path, err, got, c.want)
		}
	}
	for path, text := range map[string]string{"absent": "no such folder", "notes.txt": "it is a file, not a folder", "": "path is empty"} {
		if _, err := call(t, s.tools["list_dir"], map[string]any{"path": path}); err == nil || err.Error() != text {
			t.Errorf("%q: %v", path, err)
		}
	}
	r, err := s.tools["list_dir"].Call(context.Background(), json.RawMessage(`{"path":"/"}`))
	must(t, err)
	for shown, want := range map[int]string{0: "4 entries, truncated, next offset 0", 3: "4 entries, truncated, next offset 0", 5: "4 entries, truncated, next offset 1", 6: "4 entries, truncated, next offset 1", len(r.Text): "4 entries"} {
		if head := r.Head(shown); head != want {
			t.Errorf("%d bytes shown: %q, want %q", shown, head, want)
		}
	}
	if got, err := call(t, s.tools["list_dir"], map[string]any{"path": "/", "offset": 3}); err != nil || got != "4 entries, from number 4\né😀" {
		t.Errorf("%v, %q", err, got)
	}
	if got, err := call(t, s.tools["list_dir"], map[string]any{"path": "/", "offset": 100}); err != nil || got != "4 entries, from number 5\n" {
		t.Errorf("%v, %q", err, got)
	}
}

func TestWriteFile(t *testing.T) {
	s := newSandbox(t, &FilesOptions{MaxWrite: 100})
	write := s.tools["write_file"]
	for _, path := range []string{"new.txt", "/notes.txt", "a/b/c.txt", "sub/a.txt"} {
		text := "content of " + path
		got, err := call(t, write, map[string]any{"path": path, "content": text})
		if err != nil || got != fmt.Sprintf("wrote %d bytes", len(text)) {
			t.Errorf("%s: %v, %q", path, err, got)
		}
		if data, err := os.ReadFile(filepath.Join(s.dir, path)); err != nil || string(data) != text {
			t.Errorf("%s: %v, %q", path, err, data)
		}
	}
	if got, err := call(t, write, map[string]any{"path": "e", "content": ""}); err != nil || got != "wrote 0 bytes" {
		t.Errorf("%v, %q", err, got)
	}
	for _, c := range []struct{ path, content, text string }{
		{"sub", "x", "it is a folder, not a file"},
		{"/", "x", "it is a folder, not a file"},
		{"new/", "x", "it is a folder, not a file"},
		{"notes.txt/x", "x", "a part of its path is a file, not a folder"},
		{"big", strings.Repeat("x", 101), "the content has 101 bytes, the most that can be written is 100"},
		{"", "x", "path is empty"},
	} {
		if _, err := call(t, write, map[string]any{"path": c.path, "content": c.content}); err == nil || err.Error() != c.text {
			t.Errorf("%q: %v, want %s", c.path, err, c.text)
		}
	}
	noTemporaries(t, s.dir)
}

// noTemporaries fails if a file was left behind.
func noTemporaries(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".") {
			t.Errorf("left behind: %s", d.Name())
		}
		return err
	})
	must(t, err)
}

// A file that is replaced keeps its permissions, is whole at all times, and is
// not replaced when it is read-only or the call was cancelled.
func TestWriteFileReplaces(t *testing.T) {
	s := newSandbox(t, nil)
	path := filepath.Join(s.dir, "notes.txt")
	must(t, os.Chmod(path, 0o640))
	open, err := os.Open(path) // whoever reads the old file goes on to do so
	must(t, err)
	defer open.Close()
	if _, err := call(t, s.tools["write_file"], map[string]any{"path": "notes.txt", "content": "new"}); err != nil {
		t.Fatal(err)
	}
	old := make([]byte, 100)
	if n, _ := open.Read(old); string(old[:n]) != "first line\nsecond\n" {
		t.Errorf("the old file has become %q", old[:n])
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", err, info.Mode())
	}
	must(t, os.Chmod(path, 0o440))
	_, err = call(t, s.tools["write_file"], map[string]any{"path": "notes.txt", "content": "newer"})
	is(t, err, fs.ErrPermission)
	must(t, os.Chmod(path, 0o640))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.tools["write_file"].Call(ctx, json.RawMessage(`{"path":"notes.txt","content":"cancelled"}`))
	is(t, err, context.Canceled)
	if data, err := os.ReadFile(path); err != nil || string(data) != "new" {
		t.Errorf("%v, %q", err, data)
	}
	noTemporaries(t, s.dir)
}

// Rows A1 and A4 of the cases and their kinds: nothing outside of the root is
// read, listed, written or named.
func TestEscapes(t *testing.T) {
	s := newSandbox(t, nil)
	links := map[string]string{
		"leak": "/etc/passwd", "leak-dir": "/etc", "up": "..", "up-file": "../outside/secret.txt", "sibling": "../box-sibling",
		"self": "self", "ping": "pong", "pong": "ping", "sub/out": "../../outside", "chain": "sub/out/secret.txt", "absolute": s.dir + "/notes.txt",
		"new-outside": "../outside/new.txt", "proc": "/proc/self/root/etc/passwd",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	paths := []string{
		"../secret.txt", "../../etc/passwd", "/../secret.txt", "sub/../../secret.txt", "sub/../notes.txt", "..", "/..", "../box-sibling/secret.txt",
		"/etc/passwd", s.outside + "/secret.txt", s.dir + "-sibling/secret.txt", s.dir + "/notes.txt",
		"notes.txt\x00", "\x00", "sub\x00/../../secret.txt", "....//secret.txt", "..\x00/secret.txt", strings.Repeat("a/", 4000),
		"leak-dir/passwd", "up/secret.txt", "up/outside/secret.txt", "sibling/secret.txt", "sub/out/secret.txt", "up/box/notes.txt",
	}
	for name := range links {
		paths = append(paths, name)
	}
	for _, path := range paths {
		for tool, args := range map[string]map[string]any{"read_file": {"path": path}, "list_dir": {"path": path}, "write_file": {"path": path, "content": "overwritten"}} {
			what := fmt.Sprintf("%s %.80q", tool, path)
			got, err := call(t, s.tools[tool], args)
			s.clean(t, what, err)
			if strings.Contains(got, secret) || strings.Contains(got, "root:") {
				t.Errorf("%s: %q", what, got)
			}
			// A path of the host is one inside the root like any other.
			inside := tool == "write_file" && (strings.HasPrefix(path, "/etc") || strings.HasPrefix(path, s.outside) || strings.HasPrefix(path, s.dir) || strings.HasPrefix(path, "...."))
			if err == nil && !inside && !strings.HasSuffix(got, "overwritten") {
				t.Errorf("%s: %q", what, got)
			}
		}
	}
	s.untouched(t)
	if info, err := os.Lstat(filepath.Join(s.dir, "leak")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link has become something else: %v", err)
	}
}

// A link that stays inside is followed when reading.
func TestLinkInside(t *testing.T) {
	s := newSandbox(t, nil)
	if err := os.Symlink("sub/a.txt", filepath.Join(s.dir, "inside")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if got, err := call(t, s.tools["read_file"], map[string]any{"path": "inside"}); err != nil || got != "6 bytes\nin sub" {
		t.Errorf("%v, %q", err, got)
	}
	if _, err := call(t, s.tools["write_file"], map[string]any{"path": "inside", "content": "x"}); err == nil || err.Error() != "it is a symbolic link" {
		t.Error(err)
	}
}

// Errors keep their cause for programs.
func TestCauses(t *testing.T) {
	s := newSandbox(t, nil)
	_, err := call(t, s.tools["read_file"], map[string]any{"path": "absent"})
	is(t, err, fs.ErrNotExist)
	_, err = call(t, s.tools["read_file"], map[string]any{"path": "../x"})
	is(t, err, ErrPath)
	_, err = s.tools["read_file"].Call(context.Background(), json.RawMessage(`{"path":`))
	is(t, err, agent.ErrArguments)
	if err := plain(errors.New("something of "+s.dir), "file"); strings.Contains(err.Error(), s.dir) {
		t.Errorf("an unknown error says %q", err)
	}
}

// FuzzPath holds paths to what os.Root would do: what is accepted stays inside.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a", "/", "..", "a/../b", "\x00", "//a//b/", "./.", "a\\..\\b", "...", "/ ", "C:\\x", "NUL"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name, err := local(path)
		if err != nil {
			is(t, err, ErrPath)
			return
		}
		if !filepath.IsLocal(name) || strings.HasPrefix(name, "/") || strings.Contains(name, "..") && !strings.Contains(path, "..") {
			t.Errorf("%q became %q", path, name)
		}
	})
}
