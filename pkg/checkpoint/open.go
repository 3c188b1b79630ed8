package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/pkg/safetensors"
)

// Open opens the checkpoint at a path: a folder, a .safetensors file or its
// index with config.json beside it, or a GGUF file. A folder holds
// model.safetensors, or model.safetensors.index.json with what it lists, or
// exactly one .gguf file. opts may be nil.
//
// Nothing of the weights is read. Errors: [ErrNoCheckpoint], those of package
// safetensors, and for GGUF files those that package's comment lists and
// [ErrMetadata], [ErrShape], [ErrNotFound], [ErrUnsupported]; each names the
// file, the tensor or the key.
func Open(path string, opts *Options) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if info.IsDir() {
		return openFolder(os.DirFS(path), path, opts)
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	return openFile(os.DirFS(dir), name, opts)
}

// OpenFS opens the checkpoint in the root folder of a file system. A file that
// is an *os.File, as os.DirFS and os.Root.FS give them, is mapped; any other is
// read into memory. opts may be nil. Errors are those of [Open].
func OpenFS(fsys fs.FS, opts *Options) (*Checkpoint, error) {
	return openFolder(fsys, "the folder", opts)
}

// The names of a folder's weights.
const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

func openFolder(fsys fs.FS, place string, opts *Options) (*Checkpoint, error) {
	for _, name := range []string{singleName, indexName} {
		_, err := fs.Stat(fsys, name)
		if err == nil {
			return openFile(fsys, name, opts)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	files, err := fs.Glob(fsys, "*.gguf")
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	switch len(files) {
	case 0:
		return nil, fmt.Errorf("checkpoint: %w: %s holds neither %s nor %s nor a .gguf file", ErrNoCheckpoint, place, singleName, indexName)
	case 1:
		return openFile(fsys, files[0], opts)
	}
	return nil, fmt.Errorf("checkpoint: %w: %s holds several .gguf files, name one: %s", ErrNoCheckpoint, place, strings.Join(files, ", "))
}

// openFile opens a file of a folder.
func openFile(fsys fs.FS, name string, opts *Options) (*Checkpoint, error) {
	var s source
	var err error
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".safetensors", ext == ".json":
		s, err = openSafetensors(fsys, name, opts)
	case ext == ".gguf", beginsLikeGGUF(fsys, name): // stores that name files by digest give no extension
		s, err = openGGUF(fsys, name, opts)
	default:
		err = fmt.Errorf("checkpoint: %w: %s is neither a .safetensors nor a GGUF file", ErrNoCheckpoint, name)
	}
	if err != nil {
		return nil, err
	}
	return &Checkpoint{source: s}, nil
}

func beginsLikeGGUF(fsys fs.FS, name string) bool {
	f, _, err := regular(fsys, name)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == "GGUF"
}

// regular opens a regular file and returns its size. It looks before it opens:
// opening a pipe would wait for a writer.
func regular(fsys fs.FS, name string) (fs.File, int64, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", name, safetensors.ErrNotRegular)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
