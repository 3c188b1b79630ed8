package rules

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*?) *#*$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// links returns the targets of a Markdown text's links.
func links(text string) []string {
	text = code.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
	var targets []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1]+m[2])
	}
	return targets
}

// anchors returns the names that the headings of a Markdown text get.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// Every link of the documents leads somewhere.
func TestLinks(t *testing.T) {
	walk(t, func(file string) {
		if path.Ext(file) != ".md" {
			return
		}
		for _, target := range links(read(t, file)) {
			u, err := url.Parse(target)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			to := file
			if u.Path != "" {
				to = path.Join(path.Dir(file), u.Path)
			}
			info, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(to)))
			if err != nil {
				t.Errorf("%s: link %s leads nowhere", file, target)
				continue
			}
			if u.Fragment != "" && !info.IsDir() && !anchors(read(t, to))[u.Fragment] {
				t.Errorf("%s: link %s: %s has no such heading", file, target, to)
			}
		}
	})
}

func TestLinksAreFound(t *testing.T) {
	text := "# The *first* Part\n[a](b.md#c) `[no](x)`\n```\n[no](y)\n# no\n```\n<img src=\"p.svg\">"
	if got := strings.Join(links(text), " "); got != "b.md#c p.svg" {
		t.Errorf("links %q", got)
	}
	if a := anchors(text); len(a) != 1 || !a["the-first-part"] {
		t.Errorf("anchors %v", a)
	}
}
