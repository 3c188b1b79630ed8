package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
)

func evaluations(t *testing.T, args ...string) []evaluation {
	t.Helper()
	var rows []evaluation
	for line := range strings.Lines(invoke(t, append([]string{"evaluate", "--json"}, args...)...).ok(t).stdout) {
		var r evaluation
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestEvaluate(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	q8 := filepath.Join(t.TempDir(), "q8")
	invoke(t, "quantize", "-m", dir, "-o", q8, "-q", "q8b32").ok(t)
	tmp := t.TempDir()
	rows := evaluations(t, "-m", dir, "-m", q8, "--against", dir, "-n", "10", "--steps", "4", "--tmp", tmp)
	if len(rows) != 4 {
		t.Fatalf("%d rows, want two forms with two prompts each", len(rows))
	}
	for _, r := range rows[:2] { // against itself
		if r.Total != (difference{}) || *r.Weights != (difference{}) || *r.RunTime != (difference{}) || r.TokensEqual != 10 || r.Tokens != 10 || r.BitsPerWeight != 32 || r.Steps != 4 {
			t.Errorf("row %+v", r)
		}
	}
	for i, r := range rows[2:] {
		if r.Prompt != []string{"plain 1", "chat 1"}[i] || r.Format != "q8b32" || r.BitsPerWeight < 8.5 || r.BitsPerWeight > 10 {
			t.Errorf("row %+v", r)
		}
		for name, d := range map[string]*difference{"weights": r.Weights, "run time": r.RunTime, "total": &r.Total} {
			if !(d.Largest > d.Mean && d.Mean > 0 && d.Largest < 1) {
				t.Errorf("%s: %+v", name, *d)
			}
		}
		if r.RunTime.Largest >= r.Weights.Largest {
			t.Errorf("16-bit activations cost %v, 8-bit weights %v", r.RunTime.Largest, r.Weights.Largest)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}

	table := invoke(t, "evaluate", "-m", q8, "--against", dir, "-p", "one", "--tmp", tmp).ok(t).stdout
	if strings.Count(table, "\n") != 3 || !strings.Contains(table, "plain 1") || strings.Contains(table, "chat") {
		t.Errorf("table:\n%s", table)
	}
}

// TestEvaluateVocabularies: models whose logits cannot be compared.
func TestEvaluateVocabularies(t *testing.T) {
	small, large := tiny(t, testmodel.TinyOptions{}), tiny(t, testmodel.TinyOptions{ExtraVocab: 3})
	for model, against := range map[string]string{small: large, large: small} {
		invoke(t, "evaluate", "-m", model, "--against", against, "-n", "2", "--steps", "2").fails(t, statusError, "a vocabulary of 29")
	}
}

// TestEvaluateSeesUsedWeights: weights that were 4-bit before are told from
// others.
func TestEvaluateSeesUsedWeights(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	q4, back := filepath.Join(t.TempDir(), "q4"), filepath.Join(t.TempDir(), "back")
	invoke(t, "quantize", "-m", dir, "-o", q4, "-q", "q4b32m").ok(t)
	invoke(t, "convert", "-m", q4, "-o", back, "--dtype", "f32").ok(t)
	for path, want := range map[string]bool{dir: false, back: true, q4: false} {
		if got, err := fewValues(path); err != nil || got != want {
			t.Errorf("%s: %t, %v; want %t", path, got, err, want)
		}
	}
	if table := invoke(t, "evaluate", "-m", q4, "--against", back, "-p", "one").ok(t).stdout; !strings.Contains(table, "4-bit before") {
		t.Errorf("table without a note:\n%s", table)
	}
}

// npy spells a matrix as numpy.save does.
func npy(rows [][]float32) []byte {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", len(rows), len(rows[0]))
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	for _, r := range rows {
		binary.Write(&b, binary.LittleEndian, r)
	}
	return b.Bytes()
}

// TestEvaluateLogits compares with logits from a file.
func TestEvaluateLogits(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	model, err := llama.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	_, logits, err := greedy(t.Context(), model, model.Tokenizer().Encode("one two", nil), 6, 6)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.npy")
	write := func() {
		if err := os.WriteFile(file, npy(logits), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write()
	rows := evaluations(t, "-m", dir, "-p", "one two", "--logits", file)
	if len(rows) != 1 || rows[0].Total != (difference{}) || rows[0].Weights != nil || rows[0].Steps != 6 || rows[0].TokensEqual != 6 {
		t.Errorf("got %+v", rows)
	}
	logits[3][5] += 0.25
	write()
	if rows = evaluations(t, "-m", dir, "-p", "one two", "--logits", file); math.Abs(rows[0].Total.Largest-0.25) > 1e-5 {
		t.Errorf("got %+v, want a difference of 0.25", rows)
	}
	logits[2][1] = float32(math.Inf(-1))
	write()
	invoke(t, "evaluate", "-m", dir, "-p", "one two", "--logits", file).fails(t, statusError, "not finite")
	logits[0] = logits[0][1:]
	for i := range logits {
		logits[i] = logits[i][:len(logits[0])]
	}
	write()
	invoke(t, "evaluate", "-m", dir, "-p", "one two", "--logits", file).fails(t, statusError, "logits a step")
}

func TestParseNPY(t *testing.T) {
	rows := [][]float32{{1, 2, 3}, {4, 5, -6}}
	got, err := parseNPY(npy(rows))
	if err != nil || len(got) != 2 || !slices.Equal(got[1], rows[1]) {
		t.Errorf("got %v, %v", got, err)
	}
	good := npy(rows)
	change := func(old, new string) []byte { return bytes.Replace(bytes.Clone(good), []byte(old), []byte(new), 1) }
	for name, b := range map[string][]byte{
		"nothing":          nil,
		"no magic":         good[1:],
		"version 3":        change("\x01\x00", "\x03\x00"),
		"cut header":       good[:20],
		"cut data":         good[:len(good)-4],
		"more data":        append(bytes.Clone(good), 0, 0, 0, 0),
		"half a number":    append(bytes.Clone(good), 0),
		"doubles":          change("<f4", "<f8"),
		"Fortran order":    change("False", "True "),
		"huge shape":       change("(2, 3)", "(9999999999, 9999999999)"),
		"many empty rows":  change("(2, 3)", "(2000000000, 0)"),
		"other dimensions": change("(2, 3)", "(6,)  "),
	} {
		if got, err := parseNPY(b); err == nil {
			t.Errorf("%s: accepted as %v", name, got)
		}
	}
}

func FuzzParseNPY(f *testing.F) {
	f.Add(npy([][]float32{{1, 2}, {3, 4}}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseNPY(b)
		if err != nil {
			return
		}
		n := 0
		for _, r := range m {
			n += 4 * len(r)
		}
		if n > len(b) {
			t.Errorf("%d bytes of numbers from a file of %d", n, len(b))
		}
	})
}
