package rules

import (
	"path"
	"strings"
	"testing"
)

// leftovers are words that betray the machine that a file was written on, and
// the hosts of package registries. They are pieced together so that this file
// does not match itself.
var leftovers = []string{
	"/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/", "/tm" + "p/",
	"py" + "pi.org", "python" + "hosted.org", "proxy.go" + "lang.org", "sum.go" + "lang.org",
	"registry.npm" + "js", "crates" + ".io", "deb.deb" + "ian.org", "maven" + ".org",
	"FIX" + "ME",
}

// before are characters that make a folder's name one in another's path.
const before = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// leftover returns the first leftover of a text and where it is.
func leftover(text string) (word string, at int) {
	for _, word := range leftovers {
		for from := 0; ; {
			i := strings.Index(text[from:], word)
			if i < 0 {
				break
			}
			i += from
			if word[0] != '/' || i == 0 || !strings.ContainsRune(before, rune(text[i-1])) {
				return word, i
			}
			from = i + 1
		}
	}
	return "", 0
}

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
		text := read(t, file)
		if word, at := leftover(text); word != "" {
			t.Errorf("%s:%d: %q", file, 1+strings.Count(text[:at], "\n"), word)
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
		if word, _ := leftover(line); (word != "") != bad {
			t.Errorf("%q: found %q, want %v", line, word, bad)
		}
	}
}
