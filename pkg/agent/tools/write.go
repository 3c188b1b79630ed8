package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/leveret-os/leveret/pkg/agent"
)

const writeSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"the file, from the root folder"},` +
	`"content":{"type":"string","description":"the whole new content"}},` +
	`"required":["path","content"],"additionalProperties":false}`

// writeFile returns the tool write_file.
func writeFile(root *os.Root, maxWrite int) agent.Tool {
	return agent.NewTool("write_file", "Write a text file, with the folders that it is in. A file that is there is replaced.", writeSchema,
		func(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
			var args struct{ Path, Content string }
			if err := decode(raw, &args); err != nil {
				return agent.Result{}, err
			}
			if len(args.Content) > maxWrite {
				return agent.Result{}, &told{fmt.Sprintf("the content has %d bytes, the most that can be written is %d", len(args.Content), maxWrite), fs.ErrInvalid}
			}
			name, err := local(args.Path)
			if err != nil {
				return agent.Result{}, err
			}
			if name == "." || strings.HasSuffix(args.Path, "/") {
				return agent.Result{}, kind(fs.ModeDir)
			}
			if err := replace(ctx, root, name, args.Content); err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Text: fmt.Sprintf("wrote %d bytes", len(args.Content))}, nil
		})
}

// replace writes a file so that at any time it has either its old or its new
// content: it writes another one beside it and renames that.
func replace(ctx context.Context, root *os.Root, name, content string) error {
	dirName, base := path.Split(name)
	if dirName = path.Clean(dirName); dirName != "." {
		err := root.MkdirAll(dirName, 0o755)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) {
			return &told{"a part of its path is a file, not a folder", err}
		}
		if err != nil {
			return plain(err, "folder")
		}
	}
	// The folder stays this one even if somebody puts another in its place.
	dir, err := root.OpenRoot(dirName)
	if err != nil {
		return plain(err, "folder")
	}
	defer dir.Close()
	old, err := replaceable(dir, base)
	if err != nil {
		return err
	}
	temporary := "." + rand.Text()
	if err := create(dir, temporary, content, old); err != nil {
		return plain(err, "folder")
	}
	if err = ctx.Err(); err == nil {
		err = plain(dir.Rename(temporary, base), "folder")
	}
	if err != nil {
		if removing := dir.Remove(temporary); removing != nil && !errors.Is(removing, fs.ErrNotExist) {
			return errors.Join(err, plain(removing, "file"))
		}
	}
	return err
}

// replaceable returns what is known of the file that is to be replaced; nil if
// there is none. Anything but a regular file is not replaced: a link, for
// example, would be turned into a file. Nor is one that nobody may write to,
// which a rename would not mind.
func replaceable(dir *os.Root, base string) (fs.FileInfo, error) {
	info, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, plain(err, "file")
	case !info.Mode().IsRegular():
		return nil, kind(info.Mode())
	case info.Mode().Perm()&0o222 == 0:
		return nil, &told{"the file is read-only", fs.ErrPermission}
	}
	return info, nil
}

// create writes a new file, with the permissions of the old one if there is
// one, and removes it again if that fails.
func create(dir *os.Root, name, content string, old fs.FileInfo) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync() // before the rename, or a crash may leave an empty file
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	return nil
}
