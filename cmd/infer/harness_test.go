package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// outcome is what one call of the program left behind.
type outcome struct {
	status         int
	stdout, stderr string
}

// invoke runs the program with nothing on standard input.
func invoke(t *testing.T, args ...string) outcome {
	t.Helper()
	return invokeWith(t, "", args...)
}

// invokeWith runs the program with a text on standard input.
func invokeWith(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{status, stdout.String(), stderr.String()}
}

// ok fails the test unless the program did what it was asked to.
func (o outcome) ok(t *testing.T) outcome {
	t.Helper()
	if o.status != statusOK {
		t.Fatalf("status %d, stderr %q", o.status, o.stderr)
	}
	return o
}

// fails checks a status and that exactly one line on stderr, the last, says why.
func (o outcome) fails(t *testing.T, status int, says string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status %d, want %d (stderr %q)", o.status, status, o.stderr)
	}
	if !strings.HasPrefix(o.stderr, "infer: ") || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, says) {
		t.Errorf("stderr %q, want one line of infer that says %q", o.stderr, says)
	}
}
