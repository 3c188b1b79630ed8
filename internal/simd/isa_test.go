package simd

import (
	"strings"
	"testing"
)

func TestParseISA(t *testing.T) {
	for _, name := range []string{"", "auto"} {
		if i, err := ParseISA(name); err != nil || i != Best() {
			t.Errorf("ParseISA(%q) = %v, %v, want %v", name, i, err, Best())
		}
	}
	for i := Portable; i <= AVX512; i++ {
		got, err := ParseISA(strings.ToUpper(i.String()))
		switch {
		case Supported(i) && (err != nil || got != i):
			t.Errorf("ParseISA(%q) = %v, %v", i, got, err)
		case !Supported(i) && (err == nil || !strings.Contains(strings.ToLower(err.Error()), i.String())):
			t.Errorf("ParseISA(%q), which does not run here: error %v, want one that names it", i, err)
		}
	}
	if _, err := ParseISA("sse9"); err == nil || !strings.Contains(err.Error(), "sse9") {
		t.Errorf(`ParseISA("sse9"): error %v, want one that names it`, err)
	}
}

// TestSupported: a faster instruction set includes the slower ones.
func TestSupported(t *testing.T) {
	if !Supported(Portable) || !Supported(Best()) {
		t.Error("portable code or the best instruction set is not supported")
	}
	if Supported(AVX512) && !Supported(AVX2) {
		t.Error("AVX-512 without AVX2")
	}
	if Supported(AVX512 + 1) {
		t.Error("an unknown instruction set is supported")
	}
	t.Logf("best: %v", Best())
}
