package rules

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write THIRD_PARTY_NOTICES.md anew")

const (
	noticesFile  = "THIRD_PARTY_NOTICES.md"
	noticesBegin = "<!-- Generated from here on by `go test ./internal/rules -run Notices -update`. -->\n"
)

// licenceNames are the files that a module's licence may be in.
var licenceNames = []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING", "NOTICE"}

// notices returns the generated part of THIRD_PARTY_NOTICES.md: the licence of
// every module that is linked into a command. Go's own stands above it.
func notices(t *testing.T) string {
	modules := map[string]goModule{}
	for i := range builds {
		for _, p := range list(t, i, "-deps", "./cmd/...") {
			if p.Module != nil && !p.Module.Main {
				modules[p.Module.Path] = *p.Module
			}
		}
	}
	var b strings.Builder
	b.WriteString(noticesBegin)
	section := func(title, dir string) {
		found := false
		for _, name := range licenceNames {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			found = true
			fmt.Fprintf(&b, "\n## %s\n\n%s:\n\n```\n%s\n```\n", title, name, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		}
		if !found {
			t.Errorf("%s: no licence in %s", title, dir)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		section(path+" "+modules[path].Version, modules[path].Dir)
	}
	return b.String()
}

// Whoever gets a binary gets the licences of all that is in it.
func TestNoticesAreComplete(t *testing.T) {
	want := notices(t)
	have := read(t, noticesFile)
	head, _, ok := strings.Cut(have, noticesBegin)
	if !ok {
		t.Fatalf("%s has lost the line %q", noticesFile, noticesBegin)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root(t), noticesFile), []byte(head+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have[len(head):] != want {
		t.Errorf("%s is not what the commands link: run `go test ./internal/rules -run Notices -update`", noticesFile)
	}
}
