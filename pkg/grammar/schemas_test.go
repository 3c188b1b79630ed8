package grammar

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// hundredTools reads testdata/schemas: a hundred tools as servers offer them.
func hundredTools(t testing.TB) []Tool {
	t.Helper()
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []Tool
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list []Tool
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		tools = append(tools, list...)
	}
	if len(tools) != 100 {
		t.Fatalf("%d tools, expected 100", len(tools))
	}
	return tools
}
