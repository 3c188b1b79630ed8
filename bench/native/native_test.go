package native

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-engines", "leveret,llama.cpp", "-forms", "8-bit", "-threads", "2,1,2", "-modes", "huge", "-rounds", "3"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.threads, []int{2, 1}) || !slices.Equal(o.modes, []string{modeHuge}) || o.rounds != 3 || o.tries != 3 || o.out != filepath.Join("bench", "results", "native") {
		t.Errorf("%+v", o)
	}
	if o, err = parse([]string{"-quick"}, os.Stderr); err != nil || o.rounds != 1 || o.tries != 1 || o.patience != 0 || o.out == filepath.Join("bench", "results", "native") {
		t.Errorf("quick: %+v (%v): a quick run must not overwrite real figures", o, err)
	}
	for _, bad := range [][]string{{"-threads", "0"}, {"-threads", "x"}, {"-modes", "x"}, {"-rounds", "0"}, {"-tries", "0"}, {"-deep", "-1"}, {"x"}, {"-none"}} {
		if _, err := parse(bad, &bytes.Buffer{}); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

func TestMainStatus(t *testing.T) {
	var out, errs bytes.Buffer
	if got := Main(t.Context(), []string{"-h"}, &out, &errs); got != statusOK || !strings.Contains(errs.String(), "-quick") {
		t.Errorf("-h: status %d, %s", got, &errs)
	}
	if got := Main(t.Context(), []string{"-rounds", "x"}, &out, &errs); got != statusUsage {
		t.Errorf("status %d", got)
	}
	errs.Reset()
	if got := Main(t.Context(), []string{"-engines", "none"}, &out, &errs); got != statusFailed || !strings.Contains(errs.String(), `"none" names no engine`) {
		t.Errorf("status %d, %s", got, &errs)
	}
}

// Every engine has its program, its packages with hashes, and distinct forms.
func TestEngines(t *testing.T) {
	exact := regexp.MustCompile(`^[A-Za-z0-9_.-]+==[^ ]+ \\$`)
	hash := regexp.MustCompile(`^    --hash=sha256:[0-9a-f]{64}( \\)?$`)
	lists, err := fs.Glob(requirementsFS, "requirements/*.txt")
	if err != nil || len(lists) == 0 {
		t.Fatal(err)
	}
	for _, list := range lists {
		b, err := requirementsFS.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "#") && !exact.MatchString(line) && !hash.MatchString(line) {
				t.Errorf("%s: %q is neither a version nor a hash", list, line)
			}
		}
	}
	for _, e := range engines {
		if e.program != "" {
			if _, err := peersFS.ReadFile("peers/" + e.program); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
		}
		if e.environment != "" {
			if _, _, err := requirements(e.environment); err != nil {
				t.Errorf("%s: %v", e.name, err)
			}
		}
		seen := map[string]bool{}
		for _, f := range e.forms {
			if seen[f.name] {
				t.Errorf("%s has %s twice", e.name, f.name)
			}
			seen[f.name] = true
			if e.name != machine && !slices.Contains(classes, f.class) {
				t.Errorf("%s %s has class %q", e.name, f.name, f.class)
			}
		}
	}
	if _, _, err := requirements("none"); err == nil {
		t.Error("no requirements are no error")
	}
}

func TestNeutral(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{options: &options{models: "/models"}, taker: &taker{tools: &toolbox{dir: filepath.Join(home, ".cache", "bench")}}}
	in := "in " + filepath.Join(home, ".cache", "bench", "x") + ", " + filepath.Join(home, "y") + ", " + filepath.Join(here, "z") + ", /models/f32: https://example.org/a?b failed"
	if got := r.neutral(in); got != "in CACHE/x, ~/y, ./z, MODELS/f32: (address) failed" {
		t.Errorf("%q", got)
	}
	if got := r.neutral(strings.Repeat("é", 1000)); len(got) > 310 {
		t.Errorf("%d bytes", len(got))
	}
}

// What cannot be had is an error that every form of the engine gets, not the
// end of the run.
func TestRefusedEnvironment(t *testing.T) {
	tools, err := newToolbox(t.TempDir(), "", func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools.peers, "protocol.py")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, err := tools.environment(t.Context(), "mistralrs"); err == nil || !strings.Contains(err.Error(), "no python3") {
			t.Errorf("error %v", err)
		}
	}
	if len(tools.refused) != 1 {
		t.Errorf("%d errors remembered", len(tools.refused))
	}
}
