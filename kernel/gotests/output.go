package main

import (
	"fmt"
	"strings"
	"time"
)

// A result is how the tests of a package, or of several, went. Tests are
// counted, not their subtests.
type result struct {
	Passed, Skipped, Excepted int
	Failed                    []string
	Unfinished                string // the test that was running at the end
	Report                    string // what failing tests said
	Wall                      time.Duration
}

func (r result) String() string {
	s := fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, len(r.Failed), r.Skipped)
	if r.Excepted > 0 {
		s += fmt.Sprintf(", %d excepted", r.Excepted)
	}
	if r.Unfinished != "" {
		s += ", ended in " + r.Unfinished
	}
	return s + fmt.Sprintf(", %.0f s", r.Wall.Seconds())
}

func (r *result) add(s result) {
	r.Passed += s.Passed
	r.Skipped += s.Skipped
	r.Excepted += s.Excepted
	r.Failed = append(r.Failed, s.Failed...)
	r.Wall += s.Wall
}

// read reads what a test binary with -test.v said. A test's verdict may stand
// behind text without a line end that the test wrote.
func read(console string) result {
	var r result
	var report strings.Builder
	running := map[string]bool{}
	told := false // the lines that follow belong to a failure
	for line := range strings.Lines(strings.ReplaceAll(console, "\r\n", "\n")) {
		if name, ok := strings.CutPrefix(line, "=== RUN   "); ok {
			told = false
			if name = strings.TrimSpace(name); !strings.Contains(name, "/") {
				running[name] = true
			}
			continue
		}
		verdict, name, ok := verdictOf(line)
		if !ok {
			if told {
				report.WriteString(line)
			}
			told = told && strings.HasPrefix(line, " ")
			continue
		}
		if told = verdict == "FAIL"; told {
			report.WriteString(line)
		}
		if strings.Contains(name, "/") || !running[name] {
			continue
		}
		delete(running, name)
		switch verdict {
		case "PASS":
			r.Passed++
		case "SKIP":
			r.Skipped++
		case "FAIL":
			r.Failed = append(r.Failed, name)
		}
	}
	if !strings.Contains(console, "\nPASS\r\n") && !strings.Contains(console, "\nPASS\n") && len(running) > 0 {
		for name := range running {
			if r.Unfinished == "" || name < r.Unfinished {
				r.Unfinished = name
			}
		}
	}
	r.Report = report.String()
	return r
}

// verdictOf splits "--- PASS: TestName (0.00s)".
func verdictOf(line string) (verdict, name string, ok bool) {
	_, rest, found := strings.Cut(line, "--- ")
	if !found || len(rest) < 7 || rest[4:6] != ": " {
		return "", "", false
	}
	verdict = rest[:4]
	if verdict != "PASS" && verdict != "FAIL" && verdict != "SKIP" {
		return "", "", false
	}
	name, _, ok = strings.Cut(rest[6:], " (")
	return verdict, name, ok
}
