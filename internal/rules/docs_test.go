package rules

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parse returns the Go files of a folder, tests apart, whatever their build
// tags.
func parse(t testing.TB, dir string) (fset *token.FileSet, files, tests []*ast.File) {
	t.Helper()
	fset = token.NewFileSet()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "_test.go") {
			tests = append(tests, file)
		} else {
			files = append(files, file)
		}
	}
	return fset, files, tests
}

// Every package says what it is, and every exported name of a public package
// has a comment.
func TestEverythingIsDocumented(t *testing.T) {
	for _, p := range list(t, 0, "./...") {
		_, files, _ := parse(t, p.Dir)
		described := false
		for _, f := range files {
			described = described || f.Doc != nil
		}
		if !described {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
		if !strings.HasPrefix(p.ImportPath, module+"/pkg/") {
			continue
		}
		for _, f := range files {
			for _, name := range undocumented(f) {
				t.Errorf("%s: %s has no comment", p.ImportPath, name)
			}
		}
	}
}

// undocumented returns the exported names of a file that have no comment.
func undocumented(f *ast.File) []string {
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						names = append(names, s.Name.Name)
					}
				case *ast.ValueSpec:
					if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						names = append(names, s.Names[0].Name)
					}
				}
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	x := d.Recv.List[0].Type
	for {
		switch v := x.(type) {
		case *ast.StarExpr:
			x = v.X
		case *ast.IndexExpr:
			x = v.X
		case *ast.Ident:
			return v.IsExported()
		default:
			return true
		}
	}
}

// Every exported function of a public package is called in an Example.
func TestEveryEntryPointHasAnExample(t *testing.T) {
	for _, p := range list(t, 0, "./pkg/...") {
		fset, files, tests := parse(t, p.Dir)
		used := map[string]bool{}
		for _, e := range doc.Examples(tests...) {
			ast.Inspect(e.Code, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == p.Name {
						used[s.Sel.Name] = true
					}
				}
				return true
			})
		}
		for _, f := range files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() && !used[d.Name.Name] {
					t.Errorf("%v: %s.%s is called in no Example", fset.Position(d.Pos()), p.Name, d.Name.Name)
				}
			}
		}
	}
}
