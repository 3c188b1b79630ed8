package hub

import (
	"fmt"
	"strings"
)

// Ref names a checkpoint: a repository and a revision of it.
type Ref struct {
	Name     string // OWNER/NAME, or NAME for the hub's oldest ones
	Revision string // a commit of 40 hex digits, a branch or a tag; "" = not given
}

// ParseRef reads NAME[@REVISION]. An empty string is the named default,
// DefaultCheckpoint.
func ParseRef(s string) (Ref, error) {
	if s == "" {
		return DefaultCheckpoint, nil
	}
	name, revision, found := strings.Cut(s, "@")
	r := Ref{Name: name, Revision: revision}
	if found && revision == "" {
		return Ref{}, fmt.Errorf("hub: %w: %q: nothing stands after the @", ErrName, s)
	}
	if err := r.check(); err != nil {
		return Ref{}, err
	}
	return r, nil
}

// String returns NAME, or NAME@REVISION.
func (r Ref) String() string {
	if r.Revision == "" {
		return r.Name
	}
	return r.Name + "@" + r.Revision
}

// Commit reports whether the revision is a full commit hash.
func (r Ref) Commit() bool { return isHex(r.Revision, 40) }

// check holds a name to the hub's rules (huggingface_hub's
// utils/_validators.py, validate_repo_id): letters, digits, '-', '_' and '.',
// no "--" or "..", neither '-' nor '.' at an end, 96 characters at most.
func (r Ref) check() error {
	parts := strings.Split(r.Name, "/")
	if len(parts) > 2 || len(r.Name) > 96 {
		return fmt.Errorf("hub: %w: %q: expected OWNER/NAME of at most 96 characters", ErrName, r.Name)
	}
	for _, p := range parts {
		bad := p == "" || strings.Contains(p, "--") || strings.Contains(p, "..") ||
			strings.Trim(p, "-.") != p || strings.ContainsFunc(p, notNameRune)
		if bad {
			return fmt.Errorf("hub: %w: %q: expected OWNER/NAME of letters, digits, '-', '_' and '.'", ErrName, r.Name)
		}
	}
	rev := r.Revision
	if len(rev) > 255 || strings.Contains(rev, "..") || strings.HasPrefix(rev, "/") ||
		strings.ContainsFunc(rev, func(c rune) bool { return c != '/' && notNameRune(c) }) {
		return fmt.Errorf("hub: %w: %s: revision %q: expected a commit hash, a branch or a tag", ErrName, r.Name, rev)
	}
	return nil
}

func notNameRune(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.')
}

// isHex reports whether s is n lower-case hexadecimal digits.
func isHex(s string, n int) bool {
	return len(s) == n && !strings.ContainsFunc(s, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'f')
	})
}
