package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// unsafeFiles are the only files that may use unsafe, assembly, cgo or
// linkname, as patterns of path.Match.
var unsafeFiles = map[string]string{
	"bench/native/peers/*.c":          "programs of their own, which the rig compiles and runs",
	"bench/workload/*.go":             "makes system calls without the Go scheduler in between",
	"bench/workload/*.s":              "makes threads without it",
	"internal/simd/*.go":              "calls the assembly",
	"internal/simd/*.s":               "the assembly",
	"kernel/conformance/*/*.c":        "programs of their own, which show what a kernel does",
	"kernel/conformance/*.h":          "what those in C share",
	"kernel/conformance/*/*.go":       "programs of their own, which show what a kernel does",
	"kernel/core/*":                   "runs without a runtime",
	"kernel/core/*/*":                 "runs without a runtime",
	"kernel/hostile/program/*":        "a program of its own, without a library",
	"kernel/programs/testdata/*":      "programs of their own",
	"kernel/scheduling/program/*":     "a program of its own",
	"kernel/services/calls/*_test.go": "makes system calls of Linux itself, to compare",
	"kernel/services/ring0/*":         "touches the memory of programs and of core",
	"kernel/stress/*.go":              "makes futex calls",
	"kernel/testdata/stream/*.go":     "asks which pages are in memory",
	"pkg/safetensors/*mmap*.go":       "maps files",
	"pkg/safetensors/map*.go":         "maps files",
}

func unsafeAllowed(file string) bool {
	for pattern := range unsafeFiles {
		if ok, err := path.Match(pattern, file); err != nil {
			panic(err)
		} else if ok {
			return true
		}
	}
	return false
}

// unsafeReason says why a Go file counts as unsafe, or returns "".
func unsafeReason(file *ast.File) string {
	for _, spec := range file.Imports {
		switch spec.Path.Value {
		case `"unsafe"`:
			return "imports unsafe"
		case `"C"`:
			return "uses cgo"
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				return "uses go:linkname"
			}
		}
	}
	return ""
}

func TestUnsafeStaysInItsRooms(t *testing.T) {
	walk(t, func(file string) {
		reason := ""
		switch path.Ext(file) {
		case ".go":
			parsed, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ImportsOnly|parser.ParseComments)
			if err != nil {
				t.Error(err)
				return
			}
			reason = unsafeReason(parsed)
			if reason == "" && strings.Contains(read(t, file), "\n//go:linkname ") {
				reason = "uses go:linkname"
			}
		case ".s", ".S", ".c", ".h", ".cc", ".cpp", ".syso", ".m", ".swig":
			reason = "is not Go"
		}
		if reason != "" && !unsafeAllowed(file) {
			t.Errorf("%s %s, and is not in unsafeFiles", file, reason)
		}
	})
}

// A rule that finds nothing must be one that could.
func TestUnsafeReason(t *testing.T) {
	for source, want := range map[string]string{
		"package p\nimport \"unsafe\"\nvar _ unsafe.Pointer":          "imports unsafe",
		"package p\nimport \"C\"":                                     "uses cgo",
		"package p\nimport _ \"unsafe\"\n//go:linkname x y\nfunc x()": "imports unsafe",
		"package p\nimport \"fmt\"\nvar _ = fmt.Sprint":               "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := unsafeReason(file); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
	if unsafeAllowed("pkg/llama/forward.go") || !unsafeAllowed("internal/simd/dot_amd64.s") {
		t.Error("unsafeAllowed")
	}
}
