//go:build amd64

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/kernel/services/calls"
)

var update = flag.Bool("update", false, "write docs/syscalls.md")

const docFile = "../../docs/syscalls.md"

var states = map[callState]string{
	inCore:     "core",
	fast:       "core for files that it keeps, else services",
	inServices: "services",
}

// document is docs/syscalls.md.
func document() string {
	var b strings.Builder
	b.WriteString("# System calls\n\nGenerated from `systab` in `kernel/core/table.go` by `go test ./kernel/core -run TestDocument -update`; do not edit.\n\n" +
		"Every number that is not listed returns ENOSYS at once and is logged once with the program's name. " +
		"*core*: served in the freestanding half of the kernel. *services*: forwarded to the half that is ordinary Go, which may answer some uses with an error of its own.\n\n" +
		"| number | name | served by |\n| ---: | --- | --- |\n")
	n := 0
	for i, e := range systab {
		if e.state != absent {
			fmt.Fprintf(&b, "| %d | %s | %s |\n", i, e.name, states[e.state])
			n++
		}
	}
	fmt.Fprintf(&b, "\n%d calls.\n", n)
	return b.String()
}

func TestDocument(t *testing.T) {
	want := document()
	if *update {
		if err := os.WriteFile(docFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/syscalls.md is not what the table says: run go test ./kernel/core -run TestDocument -update")
	}
}

// A call that services are to serve has a function there.
func TestServicesServe(t *testing.T) {
	for i, e := range systab {
		if (e.state == inServices || e.state == fast) && (i >= len(calls.Table) || calls.Table[i] == nil) {
			t.Errorf("%s is forwarded, but services do not serve it", e.name)
		}
	}
}

func TestTable(t *testing.T) {
	names := map[string]int{}
	for i, e := range systab {
		switch {
		case (e.fn == nil) != (e.state == absent), (e.name == "") != (e.state == absent):
			t.Errorf("call %d: function, name and state do not agree", i)
		case e.name != "":
			if other, ok := names[e.name]; ok {
				t.Errorf("%s is both %d and %d", e.name, other, i)
			}
			names[e.name] = i
		}
	}
}
