package rules

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// leftovers are words that betray the machine that a file was written on. They
// are pieced together so that this file does not match itself.
var leftovers = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`(^|[^\w.])/ro` + `ot/`,
	`(^|[^\w.])/wo` + `rk/`,
	`/tmp/\w`,
	`(^|[^\w])/ho` + `me/\w`,
	`py` + `pi\.org`, `python` + `hosted\.org`,
	`proxy\.go` + `lang\.org`, `sum\.go` + `lang\.org`,
	`registry\.npm` + `js`, `crates\.` + `io`, `deb\.deb` + `ian\.org`, `maven\.` + `org`,
	`\bFIX` + `ME\b`, `\bX` + `XX\b`,
}, "|"))

// plain are the endings of files that hold text of ours.
var plain = map[string]bool{
	".go": true, ".s": true, ".md": true, ".mod": true, ".sh": true, ".py": true, ".txt": true, ".json": true,
	".yml": true, ".yaml": true, ".svg": true, ".html": true, ".toml": true, "": true,
}

func TestNoLeftovers(t *testing.T) {
	walk(t, func(file string) {
		if !plain[path.Ext(file)] {
			return
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			if m := leftovers.FindString(line); m != "" {
				t.Errorf("%s:%d: %q", file, i+1, strings.TrimSpace(m))
			}
		}
	})
}

func TestLeftovers(t *testing.T) {
	for line, bad := range map[string]bool{
		"cd /wo" + "rk/main":        true,
		"`/ro" + "ot/.cache`":       true,
		"see py" + "pi.org":         true,
		"from PyPI by pip":          false,
		"framework/main.go":         false,
		"the path /proc/self/maps":  false,
		"docs/network/root/file.md": false,
	} {
		if leftovers.MatchString(line) != bad {
			t.Errorf("%q: want %v", line, bad)
		}
	}
}
