package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	const console = "=== RUN   TestA\r\n--- PASS: TestA (0.00s)\r\n" +
		"=== RUN   TestB\r\n=== RUN   TestB/sub\r\n--- FAIL: TestB (1.00s)\r\n    --- FAIL: TestB/sub (0.00s)\r\n" +
		"        b_test.go:7: no\r\n=== RUN   TestC\r\nno end of line--- SKIP: TestC (0.00s)\r\n=== RUN   TestD\r\n"
	got := read(console)
	want := result{
		Passed: 1, Skipped: 1, Failed: []string{"TestB"}, Unfinished: "TestD",
		Report: "--- FAIL: TestB (1.00s)\n    --- FAIL: TestB/sub (0.00s)\n        b_test.go:7: no\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := read(console + "--- PASS: TestD (0.00s)\r\nFAIL\r\n"); got.Unfinished != "" || got.Passed != 2 {
		t.Errorf("with an end: %+v", got)
	}
}

func TestVerdictOf(t *testing.T) {
	for _, line := range []string{"", "--- ", "--- PASS", "--- PASS: ", "--- DONE: TestA (0.00s)", "--- PASS: TestA"} {
		if v, n, ok := verdictOf(line); ok {
			t.Errorf("%q is verdict %q of %q", line, v, n)
		}
	}
}

func TestExceptions(t *testing.T) {
	all, err := parseExceptions(exceptionsText)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[2]string]bool{}
	for _, e := range all {
		if key := [2]string{e.Package, e.Test}; seen[key] {
			t.Errorf("%v is there twice", key)
		} else {
			seen[key] = true
		}
	}
	if _, err := parseExceptions("os TestX\n"); !errors.Is(err, errException) {
		t.Errorf("a line without a reason: %v, want %v", err, errException)
	}
	if got, n := pattern([]exception{{"a", "TestX", "r"}, {"b", "TestY", "r"}, {"a", "TestZ", "r"}}, "a"); got != "^(TestX|TestZ)$" || n != 2 {
		t.Errorf("pattern %q of %d", got, n)
	}
}
