package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrPath means a path that the file tools refuse before they ask the system.
var ErrPath = errors.New("path")

// maxPath bounds a path, in bytes, as Linux does (PATH_MAX).
const maxPath = 4096

// local turns a path as a model writes it into one for os.Root. A leading slash
// means the root folder.
func local(name string) (string, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("%w is empty", ErrPath)
	case len(name) > maxPath:
		return "", fmt.Errorf("%w is longer than %d bytes", ErrPath, maxPath)
	case strings.ContainsRune(name, 0):
		return "", fmt.Errorf("%w has a NUL in it", ErrPath)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if part == ".." {
			return "", fmt.Errorf(`%w has a ".." in it; paths begin at the root folder, /`, ErrPath)
		}
	}
	clean := strings.TrimPrefix(path.Clean("/"+name), "/")
	if clean == "" {
		clean = "."
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) { // device names of Windows
		return "", fmt.Errorf("%w leads out of the root folder", ErrPath)
	}
	return clean, nil
}

// plain says in a few words what went wrong, without paths: those in errors of
// the system may be the host's.
func plain(err error, what string) error {
	var inner syscall.Errno
	switch {
	case err == nil, errors.As(err, new(*told)):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &told{"no such " + what, err}
	case errors.Is(err, fs.ErrPermission):
		return &told{"permission denied", err}
	case errors.As(err, &inner):
		return &told{inner.Error(), err}
	case strings.HasSuffix(err.Error(), "path escapes from parent"): // os.Root's; it exports no error
		return &told{"it leads out of the root folder", err}
	}
	return &told{"the system refuses", err}
}

// told has a text for models and the cause for programs.
type told struct {
	text  string
	cause error
}

func (e *told) Error() string { return e.text }
func (e *told) Unwrap() error { return e.cause }

// kind says what a file is that is not what it should be.
func kind(mode fs.FileMode) error {
	what := "a special file"
	switch {
	case mode.IsRegular():
		what = "a file, not a folder"
	case mode.IsDir():
		what = "a folder, not a file"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	return &told{"it is " + what, fs.ErrInvalid}
}
