package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// The files of a Hugging Face checkpoint besides those named in files.go.
const (
	tokenizerName     = "tokenizer.json"
	vocabName         = "vocab.json"
	mergesName        = "merges.txt"
	specialTokensName = "special_tokens_map.json"
	addedTokensName   = "added_tokens.json"
)

// checkpointFiles are the files that one checkpoint replaces of another.
var checkpointFiles = []string{
	indexName, configName, generationConfigName, tokenizerName, vocabName, mergesName,
	tokenizerConfigName, specialTokensName, addedTokensName, chatTemplateName,
}

// output is a folder that is being written: beside the one that it is to
// become, or in the one whose files it is to replace, which may be another file
// system.
type output struct {
	target string
	dir    string
	exists bool // target is a folder already
}

func newOutput(target string, force bool) (*output, error) {
	target = filepath.Clean(target)
	o := &output{target: target}
	entries, err := os.ReadDir(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("checkpoint: convert: %w", err)
	case len(entries) > 0 && !force:
		return nil, fmt.Errorf("checkpoint: convert: %w: %s holds %s", ErrExists, target, entries[0].Name())
	default:
		o.exists = true
		// The files go to where a link leads.
		if o.target, err = filepath.EvalSymlinks(target); err != nil {
			return nil, fmt.Errorf("checkpoint: convert: %w", err)
		}
	}
	place := filepath.Dir(o.target)
	if o.exists {
		place = o.target
	}
	if err := os.MkdirAll(place, 0o777); err != nil {
		return nil, fmt.Errorf("checkpoint: convert: %w", err)
	}
	for range 100 {
		o.dir = filepath.Join(place, fmt.Sprintf(".%s.%016x.partial", filepath.Base(o.target), rand.Uint64()))
		if err = os.Mkdir(o.dir, 0o777); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: convert: %w", err)
	}
	return o, nil
}

func (o *output) path(name string) string { return filepath.Join(o.dir, name) }

// create writes a file and syncs it.
func (o *output) create(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(o.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("checkpoint: convert: %w", err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("checkpoint: convert: %s: %w", name, err)
	}
	return nil
}

func (o *output) put(name string, data []byte) error {
	return o.create(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// discard removes what is not in place yet.
func (o *output) discard() { _ = os.RemoveAll(o.dir) }

// commit puts the folder, or its files, in place and returns their names.
func (o *output) commit() ([]string, error) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: convert: %w", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if o.exists {
		err = o.replace(names)
	} else {
		err = os.Rename(o.dir, o.target)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: convert: %w", err)
	}
	return names, nil
}

// replace moves the files into the target one by one, the weights last.
func (o *output) replace(names []string) error {
	for _, name := range checkpointFiles {
		if slices.Contains(names, name) {
			continue
		}
		if err := os.Remove(filepath.Join(o.target, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	move := func(name string) error { return os.Rename(o.path(name), filepath.Join(o.target, name)) }
	for _, name := range names {
		if name == singleName {
			continue
		}
		if err := move(name); err != nil {
			return err
		}
	}
	return move(singleName)
}
