package safetensors

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
)

// pendingFiles are files that are written in full but do not have their names
// yet.
type pendingFiles struct {
	files []pendingFile
}

type pendingFile struct{ temporary, path string }

// add writes a file under a temporary name in the folder of path and syncs it.
// On error, or a panic of write's, nothing is left behind once discard has run.
func (p *pendingFiles) add(path string, write func(io.Writer) error) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	file, err := createTemporary(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer file.Close()
	p.files = append(p.files, pendingFile{file.Name(), path})
	if info, err := os.Stat(path); err == nil {
		// The file that is replaced keeps its permissions, as far as its owner
		// and the file system let it.
		_ = file.Chmod(info.Mode().Perm())
	}
	if err := write(file); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return file.Close()
}

// commit gives the files their names in the order in which they were added.
func (p *pendingFiles) commit() error {
	for len(p.files) > 0 {
		f := p.files[0]
		if err := os.Rename(f.temporary, f.path); err != nil {
			return err
		}
		p.files = p.files[1:]
		syncFolder(filepath.Dir(f.path))
	}
	return nil
}

// discard removes the files that did not get their names.
func (p *pendingFiles) discard() {
	for _, f := range p.files {
		_ = os.Remove(f.temporary)
	}
	p.files = nil
}

// checkTarget refuses to replace what is not a file.
func checkTarget(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return regular(info)
}

// createTemporary creates a file with the permissions that a new file has;
// os.CreateTemp would make one that only its owner can read.
func createTemporary(dir string) (*os.File, error) {
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".safetensors-%016x.tmp", rand.Uint64()))
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("no free name for a temporary file in %s", dir)
}

// syncFolder makes renames in dir last. Not every file system can; the data
// itself is on the disk by now.
func syncFolder(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
