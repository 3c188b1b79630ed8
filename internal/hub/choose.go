package hub

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"
)

const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

// sideFiles are the small files that a checkpoint folder may have and that this
// project reads, in the order in which they are fetched.
var sideFiles = []string{
	"config.json",
	"generation_config.json",
	"tokenizer.json",
	"tokenizer_config.json",
	"special_tokens_map.json",
	"added_tokens.json",
	"vocab.json",
	"merges.txt",
	"chat_template.jinja",
}

// choose returns the files of a listing that a checkpoint needs, the weights
// aside if they are in shards: those are named by the index, which is among the
// returned files and has to be read first.
func choose(l *listing) ([]File, error) {
	if _, ok := l.files["config.json"]; !ok {
		return nil, fmt.Errorf("%w: config.json; %s", ErrNoFile, hint(l))
	}
	names := append([]string(nil), sideFiles...)
	_, single := l.files[singleName]
	_, index := l.files[indexName]
	switch {
	case single:
		names = append(names, singleName)
	case index:
		names = append(names, indexName)
	default:
		return nil, fmt.Errorf("%w: neither %s nor %s; %s", ErrNoFile, singleName, indexName, hint(l))
	}
	var files []File
	for _, n := range names {
		if _, ok := l.files[n]; !ok {
			continue
		}
		f, err := l.checked(n)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// chooseNamed returns the files that the caller named.
func chooseNamed(l *listing, names []string) ([]File, error) {
	var files []File
	for _, n := range names {
		if err := checkFileName(n); err != nil {
			return nil, err
		}
		f, err := l.checked(n)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, hint(l))
		}
		files = append(files, f)
	}
	return files, nil
}

// shards returns the files that a shard index names.
func shards(index []byte, l *listing) ([]File, error) {
	var doc struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(index, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", indexName, ErrAnswer, err)
	}
	seen := map[string]bool{}
	for tensor, name := range doc.WeightMap {
		if err := checkFileName(name); err != nil || path.Ext(name) != ".safetensors" {
			return nil, fmt.Errorf("%s: tensor %q: %w: %q", indexName, tensor, ErrFileName, name)
		}
		seen[name] = true
	}
	if len(seen) == 0 {
		return nil, fmt.Errorf("%s: %w: it names no shard", indexName, ErrNoFile)
	}
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	sort.Strings(names)
	var files []File
	for _, n := range names {
		f, err := l.checked(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", indexName, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// checkFileName accepts a plain file name: no folder, nothing hidden, no
// character that a file system or a terminal could take for something else.
func checkFileName(name string) error {
	bad := name == "" || len(name) > 200 || name[0] == '.' || name == manifestName || strings.HasSuffix(name, partSuffix)
	for _, c := range name {
		bad = bad || notNameRune(c) && c != '+' && c != '=' && c != ' '
	}
	if bad {
		return fmt.Errorf("%w: %q: expected a plain name", ErrFileName, name)
	}
	return nil
}

// hint says what a repository has instead of what was looked for.
func hint(l *listing) string {
	var names []string
	for n := range l.files {
		switch path.Ext(n) {
		case ".gguf", ".safetensors":
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "the repository has no .safetensors and no .gguf file"
	}
	sort.Strings(names)
	more := ""
	if n := len(names) - 8; n > 0 {
		names, more = names[:8], fmt.Sprintf(" and %d more", n)
	}
	return "the repository has " + strings.Join(names, ", ") + more + " (files can be named one by one)"
}
