package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "expected.txt")
	if err := os.WriteFile(file, []byte("a: 1\nb: 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := compare(file, "a: 1\nb: 2\n"); err != nil {
		t.Error(err)
	}
	for _, got := range []string{"a: 1\n", "a: 1\nb: 3\n", "a: 1\nb: 2\nc: 4\n", ""} {
		if err := compare(file, got); !errors.Is(err, errOutput) {
			t.Errorf("compare with %q: %v, want errOutput", got, err)
		}
	}
}

func TestFindNamesTheUnknown(t *testing.T) {
	t.Chdir("../../..")
	if _, err := find([]string{"no-such"}); err == nil {
		t.Error("find(no-such): no error")
	}
	all, err := find(nil)
	if err != nil || len(all) == 0 {
		t.Errorf("find() = %v, %v", all, err)
	}
}

// Each program has a fault, and what each replaces is there.
func TestFaultsCanBePlanted(t *testing.T) {
	t.Chdir("../../..")
	all, err := find(nil)
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]bool{}
	for _, f := range faults {
		planted[f.program] = true
		if _, err := f.plant(t.TempDir()); err != nil {
			t.Error(err)
		}
	}
	for _, name := range all {
		if !planted[name] {
			t.Errorf("no fault for %s", name)
		}
	}
}
