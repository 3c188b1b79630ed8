//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leveret-os/leveret/pkg/agent"
)

// Pipes, sockets and devices are neither opened nor replaced: opening a pipe
// waits for its other end, and a device may be anything.
func TestSpecialFiles(t *testing.T) {
	s := newSandbox(t, nil)
	must(t, syscall.Mkfifo(filepath.Join(s.dir, "pipe"), 0o644))
	want := map[string]string{"pipe": "it is a pipe"}
	short, err := os.MkdirTemp("", "s") // the path of a socket is bounded
	must(t, err)
	defer os.RemoveAll(short)
	if l, err := net.Listen("unix", filepath.Join(short, "s")); err == nil {
		defer l.Close()
		must(t, os.Link(filepath.Join(short, "s"), filepath.Join(s.dir, "socket")))
		want["socket"] = "it is a socket"
	}
	for name, text := range want {
		for _, tool := range []string{"read_file", "list_dir", "write_file"} {
			if _, err := call(t, s.tools[tool], map[string]any{"path": name, "content": "x"}); err == nil || err.Error() != text {
				t.Errorf("%s %s: %v", tool, name, err)
			}
		}
	}
}

func TestDevices(t *testing.T) {
	root, err := os.OpenRoot("/dev")
	if err != nil {
		t.Skip(err)
	}
	defer root.Close()
	for _, tool := range Files(root, nil) {
		for _, name := range []string{"zero", "null", "tty"} {
			if _, err := root.Stat(name); err != nil {
				continue
			}
			if _, err := call(t, tool, map[string]any{"path": name, "content": "x"}); err == nil || err.Error() != "it is a device" {
				t.Errorf("%s %s: %v", tool.Name(), name, err)
			}
		}
	}
}

// A file that is swapped for a link that leads out, for a pipe, and back, while
// it is read, listed and written, gives nothing away, hangs nothing, and
// nothing outside is written.
func TestSwappedWhileInUse(t *testing.T) {
	s := newSandbox(t, nil)
	must(t, syscall.Mkfifo(filepath.Join(s.dir, "sub", "fifo"), 0o644))
	must(t, os.Symlink("../outside/secret.txt", filepath.Join(s.dir, "link")))
	must(t, os.Symlink("../outside", filepath.Join(s.dir, "dirlink")))
	stop := make(chan struct{})
	var wait sync.WaitGroup
	swap := func(target string, sources ...string) { // puts each source in the place of target by rename
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			temporary := filepath.Join(s.dir, fmt.Sprintf("tmp-%s", target))
			from := filepath.Join(s.dir, sources[i%len(sources)])
			os.RemoveAll(temporary)
			if to, err := os.Readlink(from); err == nil {
				os.Symlink(to, temporary)
			} else if info, err := os.Stat(from); err == nil && info.IsDir() {
				os.Mkdir(temporary, 0o755)
			} else {
				os.Link(from, temporary)
			}
			if len(sources) == 2 { // a folder and a link do not replace each other
				os.RemoveAll(filepath.Join(s.dir, target))
			}
			os.Rename(temporary, filepath.Join(s.dir, target))
		}
	}
	wait.Go(func() { swap("victim", "notes.txt", "link", "sub/fifo") })
	wait.Go(func() { swap("victimdir", "sub", "dirlink") })
	defer func() {
		close(stop)
		wait.Wait()
		s.untouched(t)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	counts := map[string]int{}
	for i := range 3000 {
		for _, c := range []struct{ tool, path string }{{"read_file", "victim"}, {"read_file", "victimdir/secret.txt"}, {"list_dir", "victimdir"}, {"write_file", "victimdir/new.txt"}} {
			if c.tool == "write_file" && i%20 != 0 { // it waits for the disk
				continue
			}
			raw, err := json.Marshal(map[string]any{"path": c.path, "content": "x"})
			must(t, err)
			done := make(chan struct{})
			var r agent.Result
			go func() {
				defer close(done)
				r, err = s.tools[c.tool].Call(ctx, raw)
			}()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s %s hangs", c.tool, c.path)
			}
			if err != nil {
				s.clean(t, c.tool, err)
				counts[c.tool+": "+err.Error()]++
				if strings.Contains(err.Error(), "refuses") {
					t.Errorf("%s: an error that nobody foresaw: %v", c.tool, errors.Unwrap(err))
				}
				continue
			}
			counts[c.tool]++
			if strings.Contains(r.Text, secret) || strings.Contains(r.Text, "secret.txt") {
				t.Fatalf("%s %s: %q", c.tool, c.path, r.Text)
			}
		}
	}
	t.Log(counts)
}
