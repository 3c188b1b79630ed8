package machine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/kernel/image"
)

// exported is what a machine may have sent.
func exported(t *testing.T, close bool) string {
	t.Helper()
	var b bytes.Buffer
	a := image.NewArchive(&b)
	a.Dir("demo", 0o755)
	a.Dir("demo/sub", 0o700)
	if err := a.File("demo/sub/x", 0o644, 3, strings.NewReader("abc")); err != nil {
		t.Fatal(err)
	}
	a.Symlink("demo/link", "sub/x")
	if err := a.File("demonstration", 0o644, 1, strings.NewReader("d")); err != nil {
		t.Fatal(err)
	}
	if close {
		if err := a.Close(0); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGet(t *testing.T) {
	dir := t.TempDir()
	host := filepath.Join(dir, "a", "b")
	if err := get(exported(t, true), map[string]string{"/demo/": host}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(host, "link")); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if list, _ := os.ReadDir(filepath.Dir(host)); len(list) != 1 {
		t.Errorf("%v beside it", list)
	}
	if err := checkGet(map[string]string{"demo": host}); !errors.Is(err, ErrConfig) {
		t.Errorf("what is there: %v", err)
	}
	for name, err := range map[string]error{
		"not there": get(exported(t, true), map[string]string{"dem": filepath.Join(dir, "c")}),
		"cut short": get(exported(t, false), map[string]string{"demo": filepath.Join(dir, "d")}),
		"no file":   get(filepath.Join(dir, "absent"), map[string]string{"demo": filepath.Join(dir, "e")}),
	} {
		if !errors.Is(err, ErrGet) {
			t.Errorf("%s: %v, want ErrGet", name, err)
		}
	}
}

// A link in the archive leads nothing out of its folder.
func TestGetOutside(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	a := image.NewArchive(&b)
	a.Dir("demo", 0o755)
	a.Symlink("demo/out", dir)
	a.File("demo/out/x", 0o644, 1, strings.NewReader("x"))
	a.Close(0)
	file := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	err := get(file, map[string]string{"demo": filepath.Join(t.TempDir(), "demo")})
	if _, e := os.Stat(filepath.Join(dir, "x")); e == nil || !errors.Is(err, ErrGet) {
		t.Errorf("%v; written outside: %v", err, e == nil)
	}
}
