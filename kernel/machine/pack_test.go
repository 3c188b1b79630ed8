package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/initramfs"
)

// A folder is packed with all that is in it; links stay what they are within the
// folder, and become the files that they lead to where they lead out of it.
func TestPackLinks(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"blob": "out", "folder/sub/x": "in", "init": "program"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"folder/in": "sub/x", "folder/sub/up": "../in", "folder/out": "../blob", "folder/sub/far": "../../blob", "folder/root": filepath.Join(dir, "blob"), "link": "folder",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{"folder", "link"} {
		out := filepath.Join(t.TempDir(), "initramfs")
		c := Config{Files: map[string]string{"m": filepath.Join(dir, from)}}
		if err := pack(out, filepath.Join(dir, "init"), c); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for e, err := range initramfs.Entries(data) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Mode & unix.S_IFMT {
			case unix.S_IFLNK:
				got[string(e.Name)] = "→ " + string(e.Data)
			case unix.S_IFREG:
				got[string(e.Name)] = string(e.Data)
			}
		}
		want := map[string]string{"init": "program", "m/sub/x": "in", "m/in": "→ sub/x", "m/sub/up": "→ ../in", "m/out": "out", "m/sub/far": "out", "m/root": "out"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", from, diff)
		}
	}
}
