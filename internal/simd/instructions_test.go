package simd

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// innerLoops are the loops in which decoding spends its time: where they begin,
// the weights that a round multiplies, and its instructions for each, as
// docs/arithmetic.md has them. An emulator takes about as long as it executes
// instructions.
var innerLoops = []struct {
	file, kernel, label string
	weights             int
	perWeight           string
}{
	{"floats", "matvec4F32AVX2", "k_two", 4 * 32, "0.40"},
	{"floats", "matvec4F16AVX2", "k_two", 4 * 32, "0.37"},
	{"floats", "matvec4BF16AVX2", "k_two", 4 * 32, "0.49"},
	{"blocks", "rowQ8B32AVX2", "block", 512, "0.30"},
	{"blocks", "rowQ4B32AVX2", "block", 512, "0.31"},
	{"blocks", "rowQ4B32MAVX2", "block", 512, "0.32"},
	{"floats", "matvec4F32AVX512", "k_two", 4 * 32, "0.26"},
	{"floats", "matvec4F16AVX512", "k_two", 4 * 32, "0.23"},
	{"floats", "matvec4BF16AVX512", "k_two", 4 * 32, "0.29"},
	{"blocks", "streamQ8B32AVX512", "block1", 512, "0.10"},
	{"blocks", "streamQ4B32AVX512", "block1", 512, "0.11"},
	{"blocks", "streamQ4B32MAVX512", "block1", 512, "0.11"},
}

var instruction = regexp.MustCompile(`^\t[A-Z]`)

// TestInstructionsPerWeight counts the instructions of the inner loops.
func TestInstructionsPerWeight(t *testing.T) {
	doc, err := os.ReadFile("../../docs/arithmetic.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range innerLoops {
		source, err := os.ReadFile(l.file + "_amd64.s")
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := strings.Cut(string(source), "TEXT ·"+l.kernel+"(SB)")
		if !ok {
			t.Fatalf("no kernel %s", l.kernel)
		}
		body, _, _ = strings.Cut(body, "\nTEXT ")
		_, body, ok = strings.Cut(body, "\n"+l.label+":\n")
		if !ok {
			t.Fatalf("%s has no loop %s", l.kernel, l.label)
		}
		count, ended := 0, false
		for line := range strings.Lines(body) {
			if instruction.MatchString(line) {
				count++
			}
			if fields := strings.Fields(line); len(fields) == 2 && fields[0][0] == 'J' && fields[1] == l.label {
				ended = true
				break
			}
		}
		if !ended {
			t.Fatalf("%s: the loop %s does not end", l.kernel, l.label)
		}
		got := fmt.Sprintf("%.2f", float64(count)/float64(l.weights))
		if got != l.perWeight {
			t.Errorf("%s: %d instructions for %d weights, %s each, want %s", l.kernel, count, l.weights, got, l.perWeight)
		}
		if row := fmt.Sprintf("| %s | %s |", l.kernel, got); !strings.Contains(string(doc), row) {
			t.Errorf("docs/arithmetic.md has no row %q", row)
		}
	}
}
