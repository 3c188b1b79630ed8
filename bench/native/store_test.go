package native

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testHeader = header{Rig: rigVersion, Began: time.Unix(1e9, 0).UTC(), Processor: "P", Infer: "abc"}

func testItem(round int) item {
	return item{config: config{Engine: llamaCpp, Form: "Q8_0", Class: class8, Threads: 1}, Task: taskShort, Round: round}
}

func open(t *testing.T, path string, h header, fresh bool) *store {
	t.Helper()
	s, err := openStore(path, h, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s
}

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "raw.jsonl")
	s := open(t, path, testHeader, false)
	want := sample{item: testItem(0), At: time.Unix(1e9, 0).UTC(), Values: map[string]float64{keyDecode: 1.5}, Tokens: map[string][]int{"first": {1}}, Tries: 1}
	if err := s.add(want); err != nil {
		t.Fatal(err)
	}
	s.close()
	// A run that was stopped while it wrote.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"engine":"llama.cpp","fo`)
	f.Close()

	later := testHeader
	later.Began, later.Revision = time.Unix(2e9, 0).UTC(), "later"
	s = open(t, path, later, false)
	if diff := cmp.Diff([]sample{want}, s.samples, cmp.AllowUnexported(sample{}, item{})); diff != "" {
		t.Errorf("resumed with:\n%s", diff)
	}
	if s.header != testHeader {
		t.Errorf("header %+v, want that of the beginning", s.header)
	}
	items := []item{testItem(0), testItem(1)}
	if left := s.missing(items, false); len(left) != 1 || left[0].Round != 1 {
		t.Errorf("missing %v", left)
	}
	if err := s.add(sample{item: testItem(1)}); err != nil {
		t.Fatal(err)
	}
	s.close()
	if s = open(t, path, testHeader, false); len(s.samples) != 2 {
		t.Errorf("%d samples after the piece of a line", len(s.samples))
	}
}

func TestOtherRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	other := testHeader
	other.Infer = "def"
	// Rows that are not there do not matter.
	open(t, path, other, false).close()
	s := open(t, path, testHeader, false)
	s.add(sample{item: testItem(0)})
	s.close()
	if _, err := openStore(path, other, false); !errors.Is(err, errOtherRun) {
		t.Errorf("another binary: %v", err)
	}
	if s := open(t, path, other, true); len(s.samples) != 0 {
		t.Error("fresh, but with samples")
	}
	if s := open(t, path+".old", testHeader, false); len(s.samples) != 1 {
		t.Error("what was there was not moved aside")
	}
}

func TestNoRows(t *testing.T) {
	for _, text := range []string{"{}\n", "text\n", "no end"} {
		path := filepath.Join(t.TempDir(), "raw.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openStore(path, testHeader, false); !errors.Is(err, errRows) {
			t.Errorf("%q: %v", text, err)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%q was changed to %q", text, b)
		}
	}
}

func TestAgain(t *testing.T) {
	s := &store{samples: []sample{{item: testItem(0), Noisy: true}, {item: testItem(1), Error: "e"}, {item: testItem(2)}}}
	items := []item{testItem(0), testItem(1), testItem(2)}
	if left := s.missing(items, false); len(left) != 0 {
		t.Errorf("missing %v", left)
	}
	if left := s.missing(items, true); len(left) != 2 {
		t.Errorf("again %v", left)
	}
	// The last sample of an item counts.
	kept := last(append(s.samples, sample{item: testItem(1), Tries: 7}))
	if len(kept) != 3 || kept[1].Tries != 7 || kept[1].Error != "" {
		t.Errorf("last %+v", kept)
	}
}
