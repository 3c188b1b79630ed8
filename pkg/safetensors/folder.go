package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// folder opens the files of a checkpoint: on a path or in an fs.FS.
type folder struct {
	open func(name string) (fs.File, error)
	stat func(name string) (fs.FileInfo, error)
	join func(dir, name string) string
}

func osFolder() folder {
	return folder{
		open: func(name string) (fs.File, error) { return os.Open(name) },
		stat: os.Stat,
		join: func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) },
	}
}

func fsFolder(fsys fs.FS) folder {
	return folder{
		open: fsys.Open,
		stat: func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) },
		join: func(dir, name string) string { return path.Join(dir, name) },
	}
}

// regular opens a regular file and returns its size. It looks before it opens:
// opening a pipe would wait for a writer.
func (d folder) regular(name string) (fs.File, int64, error) {
	info, err := d.stat(name)
	if err != nil {
		return nil, 0, err
	}
	if err := regular(info); err != nil {
		return nil, 0, err
	}
	file, err := d.open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err = file.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func regular(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %v", ErrNotRegular, info.Mode().Type())
	}
	return nil
}

// resolve returns the file to open for name: itself, or in a folder the single
// file or else the index.
func (d folder) resolve(name string) (string, error) {
	info, err := d.stat(name)
	if err != nil || !info.IsDir() {
		return name, err
	}
	single := d.join(name, singleName)
	_, err = d.stat(single)
	if !errors.Is(err, fs.ErrNotExist) {
		return single, err
	}
	index := d.join(name, indexName)
	if _, err = d.stat(index); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("neither %s nor %s in the folder: %w", singleName, indexName, fs.ErrNotExist)
	}
	return index, err
}
