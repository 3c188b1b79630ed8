package rules

import (
	"slices"
	"strings"
	"testing"
)

// publicImports says which packages of pkg each package of pkg may import.
var publicImports = map[string][]string{
	"pkg/safetensors": {},
	"pkg/bpe":         {},
	"pkg/quant":       {},
	"pkg/checkpoint":  {"pkg/safetensors", "pkg/bpe", "pkg/quant"},
	"pkg/llama":       {"pkg/checkpoint", "pkg/safetensors", "pkg/bpe", "pkg/quant"},
	"pkg/grammar":     {"pkg/bpe"}, // a Constraint of pkg/llama without importing it
	"pkg/agent":       {"pkg/llama", "pkg/grammar", "pkg/bpe"},
	"pkg/agent/tools": {"pkg/agent"},
	"pkg/agent/mcp":   {"pkg/agent"}, // the one that has a protocol's SDK; no package of pkg imports it
	"pkg/tiny":        {"pkg/llama"},
	// Tasks are carried out by the real tools, and told as the agent tells them.
	"pkg/tiny/internal/tasks":    {"pkg/agent", "pkg/agent/tools", "pkg/bpe", "pkg/grammar", "pkg/llama"},
	"pkg/tiny/internal/corpus":   {"pkg/bpe", "pkg/llama", "pkg/tiny/internal/tasks"},
	"pkg/tiny/internal/evaluate": {"pkg/agent", "pkg/llama", "pkg/tiny", "pkg/tiny/internal/tasks"},
}

// notForPublic are modules that no package of pkg may import, but for those of
// pkg that are named: they serve the kernel, tool servers or plots, and importers
// of the SDK must not carry them.
var notForPublic = map[string][]string{
	"gvisor.dev/":                      nil,
	"github.com/modelcontextprotocol/": {"pkg/agent/mcp"},
	"gonum.org/":                       nil,
	"github.com/schollz/":              nil,
}

// forTests are packages that only tests import.
var forTests = []string{"internal/testmodel", "internal/gguf/gguftest"}

// Imports go downwards: cmd → pkg → internal.
func TestImportsGoDownwards(t *testing.T) {
	for i, build := range builds {
		t.Run(build.name, func(t *testing.T) {
			for _, p := range list(t, i, "./...") {
				from := strings.TrimPrefix(p.ImportPath, module+"/")
				room, _, _ := strings.Cut(from, "/")
				if room == "pkg" && publicImports[from] == nil {
					t.Errorf("%s is a new public package: say in publicImports what it may import", from)
				}
				for _, imported := range p.Imports {
					to, own := strings.CutPrefix(imported, module+"/")
					if problem := badImport(from, to, own); problem != "" {
						t.Errorf("%s imports %s: %s", from, to, problem)
					}
				}
			}
		})
	}
}

// badImport says what is wrong when the package from imports to, a package of
// this repository or not.
func badImport(from, to string, own bool) string {
	fromRoom, _, _ := strings.Cut(from, "/")
	toRoom, _, _ := strings.Cut(to, "/")
	switch {
	case !own:
		for m, except := range notForPublic {
			if fromRoom == "pkg" && strings.HasPrefix(to, m) && !slices.Contains(except, from) {
				return "importers of the SDK would carry it"
			}
		}
		return ""
	case toRoom == "cmd" && strings.HasPrefix(to, from+"/"):
		return "" // a command's own package
	case toRoom == "cmd" || toRoom == "tools" || toRoom == "examples":
		return "nothing imports commands"
	case fromRoom == "internal" && toRoom != "internal":
		return "internal packages import internal packages only"
	case fromRoom == "pkg" && toRoom == "pkg" && !slices.Contains(publicImports[from], to):
		return "not in publicImports"
	case fromRoom == "pkg" && toRoom != "pkg" && toRoom != "internal":
		return "public packages import pkg and internal only"
	case slices.Contains(forTests, to):
		return "it is for tests"
	}
	return ""
}

func TestBadImport(t *testing.T) {
	for _, c := range []struct {
		from, to string
		own, bad bool
	}{
		{"cmd/infer", "pkg/llama", true, false},
		{"pkg/llama", "internal/simd", true, false},
		{"pkg/llama", "pkg/bpe", true, false},
		{"pkg/bpe", "pkg/llama", true, true},
		{"pkg/llama", "kernel/abi", true, true},
		{"pkg/llama", "cmd/infer", true, true},
		{"cmd/agent", "cmd/agent/part", true, false},
		{"cmd/infer", "cmd/agent/part", true, true},
		{"cmd/agent", "pkg/agent/mcp", true, false},
		{"pkg/agent", "pkg/agent/mcp", true, true},
		{"pkg/tiny", "pkg/agent/mcp", true, true},
		{"pkg/agent/mcp", "github.com/modelcontextprotocol/go-sdk/mcp", false, false},
		{"pkg/agent", "github.com/modelcontextprotocol/go-sdk/mcp", false, true},
		{"internal/simd", "pkg/quant", true, true},
		{"internal/simd", "internal/blocks", true, false},
		{"pkg/llama", "internal/testmodel", true, true},
		{"pkg/llama", "gvisor.dev/gvisor/pkg/tcpip", false, true},
		{"pkg/llama", "golang.org/x/sys/unix", false, false},
	} {
		if got := badImport(c.from, c.to, c.own); (got != "") != c.bad {
			t.Errorf("%s → %s: %q", c.from, c.to, got)
		}
	}
}
