package native

import (
	"os"
	"regexp"
	"strings"
)

var addresses = regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s'"]+`)

// neutral takes from an error what belongs to this machine alone: its folders
// and addresses. The rows are published.
func (r *rig) neutral(text string) string {
	text = addresses.ReplaceAllString(text, "(address)")
	var pairs []string
	if r.taker != nil {
		pairs = append(pairs, r.taker.tools.dir, "CACHE", r.models, "MODELS")
	}
	pairs = append(pairs, os.TempDir(), "TMP")
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		pairs = append(pairs, home, "~")
	}
	if here, err := os.Getwd(); err == nil && here != "/" {
		pairs = append(pairs, here, ".")
	}
	text = strings.NewReplacer(pairs...).Replace(text)
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
