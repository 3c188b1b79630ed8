package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

func TestConvert(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	base := lastResult(t, invoke(t, "run", "-m", dir, "-p", "one two", "-n", "6", "--ignore-eos", "--json").ok(t))
	for _, test := range []struct {
		dtype, format string
		same          bool
	}{
		{"", "f32", true}, {"keep", "f32", true}, {"F32", "f32", true}, {"bf16", "bf16", false}, {"f16", "f16", false},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := []string{"convert", "-m", dir, "-o", out}
		if test.dtype != "" {
			args = append(args, "--dtype", test.dtype)
		}
		o := invoke(t, args...).ok(t)
		if !strings.HasPrefix(o.stdout, out+": ") || o.stderr != "" {
			t.Errorf("%v: stdout %q, stderr %q", args, o.stdout, o.stderr)
		}
		r := lastResult(t, invoke(t, "run", "-m", out, "-p", "one two", "-n", "6", "--ignore-eos", "--json").ok(t))
		if r.Format != test.format {
			t.Errorf("--dtype %s gives %s", test.dtype, r.Format)
		}
		if slices.Equal(r.LogitsSHA256, base.LogitsSHA256) != test.same {
			t.Errorf("--dtype %s: the same logits: %t", test.dtype, !test.same)
		}
	}
}

func TestConvertRefusesFullFolder(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	out := t.TempDir()
	keep := filepath.Join(out, "keep")
	if err := os.WriteFile(keep, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	invoke(t, "convert", "-m", dir, "-o", out).fails(t, statusError, "not empty")
	invoke(t, "quantize", "-m", dir, "-o", out, "-q", "q8b32").fails(t, statusError, "not empty")
	invoke(t, "convert", "-m", dir, "-o", out, "--force", "-q").ok(t)
	if _, err := os.Stat(keep); err != nil {
		t.Errorf("--force removed another file: %v", err)
	}
	invoke(t, "run", "-m", out, "-p", "one", "-n", "1").ok(t)
}

func TestQuantize(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	for _, form := range []string{"q8b32", "q4b32", "Q4B32M"} {
		out := filepath.Join(t.TempDir(), "out")
		o := invoke(t, "quantize", "-m", dir, "-o", out, "-q", form).ok(t)
		if !regexp.MustCompile(`(?m)^ +\d+ of f32 to q8b32 .* largest error `).MatchString(o.stdout) {
			t.Errorf("%s: report %q does not say what became q8b32", form, o.stdout)
		}
		r := lastResult(t, invoke(t, "run", "-m", out, "-p", "one two", "-n", "2", "--json").ok(t))
		if want := strings.ToLower(form); r.Format != want {
			t.Errorf("%s gives format %s", form, r.Format)
		}
		if got := invoke(t, "quantize", "-m", dir, "-o", out+"2", "-q", form, "--quiet").ok(t); got.stdout != "" {
			t.Errorf("--quiet: stdout %q", got.stdout)
		}
	}
}

// TestQuantizeOddRows: matrices whose rows are no multiple of 32 stay, by name.
func TestQuantizeOddRows(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{Intermediate: 72})
	o := invoke(t, "quantize", "-m", dir, "-o", filepath.Join(t.TempDir(), "out"), "-q", "q8b32").ok(t)
	if !strings.Contains(o.stdout, "not quantised") || !strings.Contains(o.stdout, "model.layers.1.mlp.down_proj.weight") {
		t.Errorf("report %q", o.stdout)
	}
}
