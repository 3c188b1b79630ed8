package machine

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/leveret-os/leveret/kernel/image"
)

// pack writes the initramfs: /init, /dev/console, and the files of c.
func pack(out, program string, c Config) error {
	f, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	p := packer{archive: image.NewArchive(w), dirs: map[string]bool{}}
	p.dir("dev")
	p.archive.CharDevice("dev/console", 0o600, 5, 1)
	p.file("init", program)
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		p.add(guestPath(name)[1:], c.Files[name])
	}
	if p.err != nil {
		return p.err
	}
	placement := image.Q35
	if c.Machine == "microvm" {
		placement = image.MicroVM
	}
	if err := p.archive.Close(placement); err != nil {
		return fmt.Errorf("machine: initramfs: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("machine: initramfs: %w", err)
	}
	return nil
}

// guestPath is a path in the machine, from its root.
func guestPath(name string) string { return path.Clean("/" + name) }

// packer adds things to an archive until the first error.
type packer struct {
	archive *image.Archive
	dirs    map[string]bool
	err     error
}

// dir adds a folder and those it is in, once.
func (p *packer) dir(name string) {
	if name == "." || name == "" || p.dirs[name] {
		return
	}
	p.dir(path.Dir(name))
	p.dirs[name] = true
	p.archive.Dir(name, 0o755)
}

// add adds a file, or a folder with all that is in it.
func (p *packer) add(name, from string) {
	info, err := os.Stat(from)
	switch {
	case p.err != nil:
	case err != nil:
		p.err = fmt.Errorf("machine: %w", err)
	case !info.IsDir():
		p.dir(path.Dir(name))
		p.file(name, from)
	default:
		p.dir(name)
		// WalkDir does not enter a link.
		if from, p.err = filepath.EvalSymlinks(from); p.err != nil {
			return
		}
		p.err = filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(from, file)
			if err != nil || rel == "." {
				return err
			}
			p.entry(path.Join(name, filepath.ToSlash(rel)), file, rel, d)
			return p.err
		})
	}
}

// entry adds what is at rel below a folder that is packed. A symbolic link that
// leads out of the folder would lead nowhere in the machine: the file that it
// leads to is packed in its place.
func (p *packer) entry(name, from, rel string, d fs.DirEntry) {
	switch {
	case d.IsDir():
		p.dir(name)
	case d.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			p.err = fmt.Errorf("machine: %w", err)
			return
		}
		if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(filepath.Dir(rel), target)) {
			p.file(name, from)
			return
		}
		p.archive.Symlink(name, target)
	default:
		p.file(name, from)
	}
}

func (p *packer) file(name, from string) {
	if p.err != nil {
		return
	}
	f, err := os.Open(from)
	if err != nil {
		p.err = fmt.Errorf("machine: %w", err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %v, want a file", from, info.Mode().Type())
	}
	if err != nil {
		p.err = fmt.Errorf("machine: %w", err)
		return
	}
	perm := info.Mode().Perm()
	if name == "init" {
		perm |= 0o111
	}
	if err := p.archive.File(name, perm, info.Size(), f); err != nil {
		p.err = fmt.Errorf("machine: %s: %w", from, err)
	}
}
