package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/services/initramfs"
)

// get takes what the machine exported, an archive, apart: want says what of it
// goes where.
func get(archive string, want map[string]string) error {
	data, err := os.ReadFile(archive)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGet, err)
	}
	if !bytes.Contains(data, []byte("TRAILER!!!\x00")) {
		return fmt.Errorf("%w: the machine's archive has no end, after %d bytes", ErrGet, len(data))
	}
	for guest, host := range want {
		if err := extract(data, guestPath(guest)[1:], host); err != nil {
			return err
		}
	}
	return nil
}

// checkGet refuses places that are taken: what comes back overwrites nothing.
func checkGet(want map[string]string) error {
	for guest, host := range want {
		if _, err := os.Lstat(host); err == nil {
			return fmt.Errorf("%w: %s is there already: %s from the machine would overwrite it", ErrConfig, host, guest)
		}
	}
	return nil
}

// extract makes host what the archive has at name.
func extract(data []byte, name, host string) error {
	parent, base := filepath.Dir(host), filepath.Base(host)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("%w: %w", ErrGet, err)
	}
	root, err := os.OpenRoot(parent) // names from the machine lead nowhere else
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGet, err)
	}
	defer root.Close()
	found := false
	for e, err := range initramfs.Entries(data) {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrGet, err)
		}
		rel, ok := below(string(e.Name), name)
		if !ok {
			continue
		}
		found = true
		if err := place(root, filepath.Join(base, rel), &e); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrGet, e.Name, err)
		}
	}
	if !found {
		return fmt.Errorf("%w: there is no /%s in the machine", ErrGet, name)
	}
	return nil
}

// below returns where path is below dir, which is "" for everything.
func below(path, dir string) (string, bool) {
	if dir == "" || path == dir {
		return strings.TrimPrefix(path, dir), true
	}
	return strings.CutPrefix(path, dir+"/")
}

func place(root *os.Root, name string, e *initramfs.Entry) error {
	perm := fs.FileMode(e.Mode & 0o777)
	switch e.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return root.MkdirAll(name, perm|0o700)
	case unix.S_IFREG:
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return root.WriteFile(name, e.Data, perm|0o200)
	case unix.S_IFLNK:
		return root.Symlink(string(e.Data), name)
	}
	return errors.ErrUnsupported
}
