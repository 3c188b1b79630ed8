package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

var fileWorkers = []worker{
	{"files", files},
	{"folders", folders},
}

// files writes, reads back, cuts, appends, renames and removes a file.
func files(_ context.Context, n int, rng *rand.Rand) error {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("stress-%d", n))
	want := make([]byte, rng.IntN(200_000))
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		return err
	}
	if cut := rng.IntN(len(want) + 1); rng.IntN(2) == 0 {
		if err := os.Truncate(path, int64(cut)); err != nil {
			return err
		}
		want = want[:cut]
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	more := bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(10_000))
	if _, err := f.Write(more); err != nil {
		return err
	}
	want = append(want, more...)
	if info, err := f.Stat(); err != nil || info.Size() != int64(len(want)) {
		return fmt.Errorf("size %d (%v), want %d", info.Size(), err, len(want))
	}
	other := path + "-renamed"
	if err := os.Rename(path, other); err != nil {
		return err
	}
	got, err := os.ReadFile(other)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("read back %d bytes that are not the %d written", len(got), len(want))
	}
	if err := os.Remove(other); err != nil {
		return err
	}
	// Open, though without a name.
	at := 0
	if len(want) > 0 {
		at = rng.IntN(len(want))
	}
	rest := make([]byte, len(want)-at)
	if _, err := f.ReadAt(rest, int64(at)); err != nil || !bytes.Equal(rest, want[at:]) {
		return fmt.Errorf("after its removal: %v, or other bytes", err)
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("stat of what was removed: %v", err)
	}
	return nil
}

// folders makes a tree, counts it, and removes it.
func folders(_ context.Context, n int, rng *rand.Rand) error {
	root := filepath.Join(os.TempDir(), fmt.Sprintf("stress-tree-%d", n))
	made := 1
	var grow func(dir string, depth int) error
	grow = func(dir string, depth int) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for i := range rng.IntN(5) {
			name := filepath.Join(dir, fmt.Sprintf("entry-%d", i))
			made++
			if depth > 0 && rng.IntN(2) == 0 {
				if err := grow(name, depth-1); err != nil {
					return err
				}
			} else if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	if err := grow(root, 3); err != nil {
		return err
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		seen++
		if err != nil || d.IsDir() {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != path {
			return fmt.Errorf("%s: %q, %v", path, text, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if seen != made {
		return fmt.Errorf("a tree of %d entries has %d", made, seen)
	}
	return os.RemoveAll(root)
}
