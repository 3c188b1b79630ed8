//go:build unix

package safetensors

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A new file has the permissions that the umask leaves, a replaced one keeps
// its own.
func TestWritePermissions(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	check := func(want os.FileMode) {
		t.Helper()
		if err := Write(path, mixture(), nil, nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != want {
			t.Errorf("%v, %v, want %v", info.Mode(), err, want)
		}
	}
	check(0o640)
	for _, mode := range []os.FileMode{0o600, 0o444, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		check(mode)
	}
}

// A symbolic link is replaced; the file that it named stays.
func TestWriteOverSymlink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	target := writeFile(t, other, "blob", []byte("blob"))
	path := filepath.Join(dir, "m.safetensors")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, mixture(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "blob" {
		t.Errorf("the link's target holds %q, %v", text, err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A link to nowhere is replaced too.
	dangling := filepath.Join(dir, "dangling.safetensors")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if err := Write(dangling, mixture(), nil, nil); err != nil {
		t.Fatal(err)
	}
	checkFolder(t, dir, "dangling.safetensors", "m.safetensors")
}
