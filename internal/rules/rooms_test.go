package rules

import (
	"strings"
	"testing"
)

// A newcomer finds every room in docs/design.md.
func TestEveryRoomIsInTheDesign(t *testing.T) {
	design := read(t, "docs/design.md")
	for _, p := range list(t, 0, "./...") {
		parts := strings.Split(strings.TrimPrefix(p.ImportPath, module+"/"), "/")
		room := strings.Join(parts[:min(2, len(parts))], "/")
		if !strings.Contains(design, "\n"+room+" ") {
			t.Errorf("docs/design.md does not list %s among the rooms", room)
		}
	}
}
