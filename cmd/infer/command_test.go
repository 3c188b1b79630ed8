package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leveret-os/leveret/internal/simd"
)

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "no command given"},
		{[]string{"walk"}, `unknown command "walk"`},
		{[]string{"help", "walk"}, `unknown command "walk"`},
		{[]string{"help", "run", "bench"}, "expected one command, found 2"},
		{[]string{"version", "x"}, "expected no arguments"},
		{[]string{"version", "--walk"}, "unknown flag: -walk"},
		{[]string{"version", "--json=perhaps"}, "expected true or false"},

		{[]string{"run"}, "no model given"},
		{[]string{"run", "-m", "x"}, "no prompt given"},
		{[]string{"run", "-m", "x", "-p", "y", "-f", "z"}, "-p and -f are two prompts"},
		{[]string{"run", "-m", "x", "-f", ""}, "-f: expected a file name"},
		{[]string{"run", "-m", "x", "-p", "y", "z"}, `unexpected argument "z"`},
		{[]string{"run", "-m", "x", "-p", "y", "-n", "-2"}, "-n -2"},
		{[]string{"run", "-m", "x", "-p", "y", "-n", "many"}, "expected a whole number"},
		{[]string{"run", "-m", "x", "-p", "y", "-n"}, "flag needs an argument: -n"},
		{[]string{"run", "-m", "x", "-p", "y", "-c", "-1"}, "-c -1"},
		{[]string{"run", "-m", "x", "-p", "y", "-t", "-1"}, "-t -1"},
		{[]string{"run", "-m", "x", "-p", "y", "-t", "9999"}, "-t 9999"},
		{[]string{"run", "-m", "x", "-p", "y", "--temp", "-1"}, "--temp -1"},
		{[]string{"run", "-m", "x", "-p", "y", "--temp", "NaN"}, "expected a number"},
		{[]string{"run", "-m", "x", "-p", "y", "--temp", "Inf"}, "--temp +Inf"},
		{[]string{"run", "-m", "x", "-p", "y", "--top-k", "-1"}, "--top-k -1"},
		{[]string{"run", "-m", "x", "-p", "y", "--top-p", "1.5"}, "--top-p 1.5"},
		{[]string{"run", "-m", "x", "-p", "y", "--min-p", "-0.5"}, "--min-p -0.5"},
		{[]string{"run", "-m", "x", "-p", "y", "--repeat-penalty", "0"}, "--repeat-penalty 0"},
		{[]string{"run", "-m", "x", "-p", "y", "--repeat-last-n", "-2"}, "--repeat-last-n -2"},
		{[]string{"run", "-m", "x", "-p", "y", "-s", "-2"}, "-s -2"},
		{[]string{"run", "-m", "x", "-p", "y", "--stop", ""}, "--stop"},
		{[]string{"run", "-m", "x", "-p", "y", "--logprobs", "-1"}, "--logprobs -1"},
		{[]string{"run", "-m", "x", "-p", "y", "--system", "z"}, "--system needs --chat"},
		{[]string{"run", "-m", "x", "--chat", "--json"}, "need a prompt"},
		{[]string{"run", "-m", "x", "--chat", "--report"}, "need a prompt"},

		{[]string{"tokenize", "x"}, "no model given"},
		{[]string{"tokenize", "-m", "x", "y", "z"}, "expected one text, found 2"},
		{[]string{"tokenize", "-m", "x", "-f", "y", "z"}, "TEXT and -f are two texts"},

		{[]string{"inspect"}, "nothing to inspect"},
		{[]string{"inspect", "x", "y"}, "expected one"},

		{[]string{"quantize", "-m", "x", "-o", "y"}, "no form given"},
		{[]string{"quantize", "-m", "x", "-q", "q8b32"}, "no folder given"},
		{[]string{"quantize", "-o", "x", "-q", "q8b32"}, "no model given"},
		{[]string{"quantize", "-m", "x", "-o", "y", "-q", "q3"}, "-q q3: expected a block format: q8b32"},
		{[]string{"quantize", "-m", "x", "-o", "y", "-q", "bf16"}, "-q bf16: expected a block format: q8b32"},
		{[]string{"convert", "-m", "x"}, "no folder given"},
		{[]string{"convert", "-m", "x", "-o", "y", "--dtype", "f8"}, "--dtype f8: expected f32"},
		{[]string{"convert", "-m", "x", "-o", "y", "--dtype", "q8b32"}, "infer quantize"},

		{[]string{"pull", "a", "b"}, "expected one checkpoint"},
		{[]string{"pull", "../x"}, "not a checkpoint's name"},
		{[]string{"pull", "a/b", "--sha256", "abc"}, "expected 64 hex digits"},
		{[]string{"pull", "--timeout", "-5s"}, "expected a time"},
		{[]string{"pull", "--max-gb", "-1"}, "--max-gb -1"},

		{[]string{"bench"}, "no model given"},
		{[]string{"bench", "-m", "x", "-t", "0"}, "-t 0"},
		{[]string{"bench", "-m", "x", "-t", "1,x"}, "separated by commas"},
		{[]string{"bench", "-m", "x", "-p", "0", "-n", "0"}, "something to measure"},
		{[]string{"bench", "-m", "x", "-n", "1"}, "at least 2 tokens"},
		{[]string{"bench", "-m", "x", "-r", "0"}, "-r 0"},
		{[]string{"bench", "-m", "x", "-o", "xml"}, "table, csv or json"},
		{[]string{"bench", "-m", "x", "y"}, "unexpected argument"},

		{[]string{"evaluate"}, "no model given"},
		{[]string{"evaluate", "-m", "x"}, "nothing to compare with"},
		{[]string{"evaluate", "-m", "x", "--against", "y", "--logits", "z"}, "two references"},
		{[]string{"evaluate", "-m", "x", "--logits", "z"}, "1 --logits for 0 prompts"},
		{[]string{"evaluate", "-m", "x", "--against", "y", "--steps", "0"}, "--steps 0"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			o := invoke(t, test.args...)
			o.fails(t, statusUsage, test.says)
			if o.stdout != "" {
				t.Errorf("stdout %q", o.stdout)
			}
		})
	}
}

func TestMissingFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, args := range [][]string{
		{"run", "-m", missing, "-p", "x"},
		{"tokenize", "-m", missing, "x"},
		{"inspect", missing},
		{"convert", "-m", missing, "-o", missing + "2"},
		{"quantize", "-m", missing, "-o", missing + "2", "-q", "q8b32"},
		{"bench", "-m", missing},
		{"evaluate", "-m", missing, "--against", missing},
	} {
		t.Run(args[0], func(t *testing.T) {
			invoke(t, args...).fails(t, statusError, missing)
		})
	}
}

func TestHelp(t *testing.T) {
	overview := invoke(t, "help").ok(t).stdout
	for _, cmd := range commands() {
		if !strings.Contains(overview, "\n  "+cmd.name+" ") {
			t.Errorf("the overview lacks %s", cmd.name)
		}
		help := invoke(t, "help", cmd.name).ok(t).stdout
		for _, line := range strings.Split(help, "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("help %s: a line of %d characters: %q", cmd.name, n, line)
			}
		}
		if got := invoke(t, cmd.name, "--help").ok(t).stdout; got != help {
			t.Errorf("%s --help differs from help %s", cmd.name, cmd.name)
		}
		if got := invoke(t, cmd.name, "-h").ok(t).stdout; got != help {
			t.Errorf("%s -h differs from help %s", cmd.name, cmd.name)
		}
	}
	for _, spelling := range []string{"-h", "--help", "-help"} {
		if got := invoke(t, spelling).ok(t).stdout; got != overview {
			t.Errorf("infer %s differs from infer help", spelling)
		}
	}
	for _, flag := range []string{"-m, --model", "-p, --prompt", "-f, --file", "-n, --predict", "-t, --threads", "-c, --ctx-size", "--temp,",
		"--top-k", "--top-p", "--min-p", "--repeat-penalty", "-s, --seed", "--stop", "--ignore-eos", "--parse-special", "--chat", "--mlock",
		"--huge", "--isa", "--logprobs", "--json", "--report"} {
		if !strings.Contains(invoke(t, "help", "run").stdout, flag) {
			t.Errorf("help run lacks %s", flag)
		}
	}
}

// TestFlagSpellings: -x v, -x=v, --x v and --x=v are the same, before and after
// arguments, and -- ends flags.
func TestFlagSpellings(t *testing.T) {
	parse := func(args ...string) (n int, s string, list []string, rest []string) {
		f := newFlags(&command{name: "test"})
		f.int(&n, "n,predict", "")
		f.string(&s, "s", "TEXT", "")
		f.list(&list, "l", "TEXT", "")
		rest, err := f.parse(args)
		if err != nil {
			t.Errorf("%q: %v", args, err)
		}
		return n, s, list, rest
	}
	for _, args := range [][]string{{"-n", "-1"}, {"-n=-1"}, {"--n", "-1"}, {"--n=-1"}, {"--predict", "-1"}, {"--predict=-1"}, {"-predict", "-1"}} {
		if n, _, _, _ := parse(args...); n != -1 {
			t.Errorf("%q gives %d", args, n)
		}
	}
	n, s, list, rest := parse("a", "-n", "3", "b", "-l", "x", "--l=y", "-s", "", "--", "-n", "4")
	if n != 3 || s != "" || strings.Join(list, ",") != "x,y" || strings.Join(rest, ",") != "a,b,-n,4" {
		t.Errorf("got %d %q %q %q", n, s, list, rest)
	}
}

func TestVersion(t *testing.T) {
	var v versionInfo
	if err := json.Unmarshal([]byte(invoke(t, "version", "--json").ok(t).stdout), &v); err != nil {
		t.Fatal(err)
	}
	if v.ISA != simd.Best().String() || len(v.ISAs) == 0 || v.ISAs[len(v.ISAs)-1] != "portable" || v.Go == "" {
		t.Errorf("got %+v", v)
	}
	if out := invoke(t, "--version").ok(t).stdout; !strings.HasPrefix(out, "infer ") || !strings.Contains(out, v.Go) {
		t.Errorf("got %q", out)
	}
}

// TestVersionOfBuild: a build from a checkout knows its revision.
func TestVersionOfBuild(t *testing.T) {
	git := exec.Command("git", "rev-parse", "HEAD")
	head, err := git.Output()
	if err != nil {
		t.Skipf("no checkout: %v", err)
	}
	bin := build(t)
	out, err := exec.Command(bin, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	// go build notes the revision of a checkout unless it is told not to.
	if want := strings.TrimSpace(string(head)); !strings.Contains(string(out), "revision "+want) {
		t.Errorf("version is %q, want revision %s", out, want)
	}
}

// brokenPipe is a reader that has gone.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func TestBrokenPipe(t *testing.T) {
	var stderr strings.Builder
	status := run(context.Background(), []string{"help"}, strings.NewReader(""), brokenPipe{}, &stderr)
	if status != statusError || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q: want a silent end with 1", status, stderr.String())
	}
}

func TestMessagesStayOnTheirLine(t *testing.T) {
	invoke(t, "inspect", "no\n\x1b[31msuch").fails(t, statusError, "no ?[31msuch")
}

func TestParseMemory(t *testing.T) {
	got := parseMemory([]byte("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nVmLck:\t       4 kB\n"))
	if got != (memory{resident: 1 << 20, peak: 2 << 20, locked: 4 << 10}) {
		t.Errorf("got %+v", got)
	}
	if got := parseMemory([]byte("VmRSS:\t1024 kB\nVmHWM:\tnone\n")); got != (memory{resident: 1 << 20, peak: 1 << 20}) {
		t.Errorf("got %+v", got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 269060552: "269.1 MB", 999_960_000: "1.0 GB", 16e15: "16.0 PB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	if got := newSpread([]float64{3, 1, 2}); got != (spread{2, 1, 3}) {
		t.Errorf("got %v", got)
	}
	if got := newSpread([]float64{4, 1, 2, 3}); got != (spread{2.5, 1, 4}) {
		t.Errorf("got %v", got)
	}
}
