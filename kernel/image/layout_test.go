package image

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// Core has the same numbers.
func TestLayoutIsCores(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "../core/layout.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("core", set, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{
		"directMap": DirectMap, "coreBase": CoreBase, "blobPhys": blobPhys, "offPML4": offPML4,
		"offDirectPDPT": offDirectPDPT, "offTables": offTables, "offTrampoline": offTrampoline,
		"trampolinePhys": trampolinePhys, "blobGDT": CoreBase + blobPhys + offGDT,
		"blobInfo": CoreBase + blobPhys + offInfo, "blobTrapStack": CoreBase + blobPhys + offTrapStack,
		"infoSymbols": infoSymbols, "infoServices": infoServices, "infoServicesSize": infoServicesSize, "infoEnd": infoEnd,
	} {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok {
			t.Errorf("core has no constant %s", name)
			continue
		}
		if got, _ := constant.Uint64Val(c.Val()); got != want {
			t.Errorf("%s is %#x in core, %#x here", name, got, want)
		}
	}
}
