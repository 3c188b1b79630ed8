package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// compareTrees compares the files of two folders, or two files: how many there
// are in a, and in words how b differs.
func compareTrees(a, b string) (n int, diff string) {
	left, err := readTree(a)
	if err != nil {
		return 0, err.Error()
	}
	right, err := readTree(b)
	if err != nil {
		return len(left), err.Error()
	}
	for name, data := range left {
		if other, ok := right[name]; !ok {
			return len(left), fmt.Sprintf("DIFFERENT: no %s", name)
		} else if !bytes.Equal(data, other) {
			return len(left), fmt.Sprintf("DIFFERENT: %s", name)
		}
	}
	for name := range right {
		if _, ok := left[name]; !ok {
			return len(left), fmt.Sprintf("DIFFERENT: %s more", name)
		}
	}
	return len(left), "the same, byte for byte"
}

func readTree(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files[rel], err = os.ReadFile(name)
		return err
	})
	return files, err
}
