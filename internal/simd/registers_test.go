package simd

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAVX2Registers: no AVX2 kernel names what only AVX-512 has. The assembler
// would take it, and so would the processor that these tests run on.
func TestAVX2Registers(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly found", err)
	}
	beyond := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7])\b|\.(Z|BCST)\b|` +
		`\b(VMOVDQU(8|16|32|64)|VPXORD|VPANDD|VPTERNLOGD|VBLENDMPS|VEXTRACT[FI](32X4|64X4)|VSHUF[FI]\w+|VRNDSCALEPS|VSCALEFPS|VPERM[IT]2\w+)\b`)
	kernels := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var function string
		for s := bufio.NewScanner(f); s.Scan(); {
			line := s.Text()
			if rest, ok := strings.CutPrefix(line, "TEXT ·"); ok {
				function, _, _ = strings.Cut(rest, "(")
				if strings.HasSuffix(function, "AVX2") {
					kernels++
				}
			}
			if strings.HasSuffix(function, "AVX2") && !strings.HasPrefix(line, "//") {
				if m := beyond.FindString(line); m != "" {
					t.Errorf("%s: %s uses %s: %s", name, function, m, strings.TrimSpace(line))
				}
			}
		}
	}
	if kernels < 10 {
		t.Errorf("only %d AVX2 kernels found", kernels)
	}
}
