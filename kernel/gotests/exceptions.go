package main

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

//go:embed exceptions.txt
var exceptionsText string

// An exception is a test that does not pass on the kernel, and why.
type exception struct{ Package, Test, Reason string }

// errException says what a line of the list has to be.
var errException = errors.New("want PACKAGE TEST REASON")

// parseExceptions reads lines of a package, a test and a reason; # begins a
// comment.
func parseExceptions(text string) ([]exception, error) {
	var all []exception
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 || strings.TrimSpace(fields[2]) == "" {
			return nil, fmt.Errorf("exceptions.txt:%d: %q: %w", number, line, errException)
		}
		all = append(all, exception{fields[0], fields[1], strings.TrimSpace(fields[2])})
	}
	return all, nil
}

// pattern returns what -test.skip wants for a package's exceptions, and how
// many those are. Exceptions are whole tests.
func pattern(all []exception, pkg string) (string, int) {
	var names []string
	for _, e := range all {
		if e.Package == pkg {
			names = append(names, regexp.QuoteMeta(e.Test))
		}
	}
	return "^(" + strings.Join(names, "|") + ")$", len(names)
}
