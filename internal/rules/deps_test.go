package rules

import (
	"slices"
	"strings"
	"testing"
)

// llamaModules are the modules of others that pkg/llama may pull in.
var llamaModules = []string{
	"github.com/viterin/vek",     // elementwise sums, on amd64
	"github.com/viterin/partial", // by vek
	"github.com/chewxy/math32",   // by vek
	"golang.org/x/exp",           // by vek
	"github.com/x448/float16",    // 16-bit floats
	"golang.org/x/sys",           // memory mapping, the processor's features
	"golang.org/x/text",          // Unicode normalisation of tokenizers
}

// llamaRefuses are packages of the standard library that pkg/llama must not
// pull in, with all below them: a program that only runs a model carries no
// network, starts no process, and reads no flag.
var llamaRefuses = []string{"net", "os/exec", "flag", "testing", "plugin", "crypto/tls", "html", "database", "go", "expvar"}

// What pkg/llama pulls in, every importer carries.
func TestWhatLlamaPullsIn(t *testing.T) {
	used := map[string]bool{}
	for i, build := range builds {
		t.Run(build.name, func(t *testing.T) {
			for _, p := range list(t, i, "-deps", "./pkg/llama") {
				switch {
				case p.Standard:
					for _, refused := range llamaRefuses {
						if p.ImportPath == refused || strings.HasPrefix(p.ImportPath, refused+"/") {
							t.Errorf("pkg/llama pulls in %s", p.ImportPath)
						}
					}
				case p.Module == nil:
					t.Errorf("%s belongs to no module", p.ImportPath)
				case !p.Module.Main:
					used[p.Module.Path] = true
					if !slices.Contains(llamaModules, p.Module.Path) {
						t.Errorf("pkg/llama pulls in %s of module %s, which is not in llamaModules", p.ImportPath, p.Module.Path)
					}
				}
			}
		})
	}
	for _, m := range llamaModules {
		if !used[m] {
			t.Errorf("pkg/llama no longer pulls in %s: take it off llamaModules", m)
		}
	}
}
