package native

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

var addresses = regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s'"]+`)

// neutral takes from an error what belongs to this machine alone: its folders
// and addresses. The rows are published.
func (r *rig) neutral(text string) string {
	text = addresses.ReplaceAllString(text, "(address)")
	var pairs [][2]string
	if r.taker != nil {
		pairs = append(pairs, [2]string{r.taker.tools.dir, "CACHE"}, [2]string{r.models, "MODELS"})
	}
	pairs = append(pairs, [2]string{os.TempDir(), "TMP"})
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		pairs = append(pairs, [2]string{home, "~"})
	}
	if here, err := os.Getwd(); err == nil && here != "/" {
		pairs = append(pairs, [2]string{here, "."})
	}
	// The longest first: a folder may lie in another.
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	for _, p := range pairs {
		if p[0] == "" {
			continue
		}
		text = strings.ReplaceAll(text, p[0], p[1])
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
