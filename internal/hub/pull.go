package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// PullOptions says what to fetch of a checkpoint.
type PullOptions struct {
	// Files are the plain names of the files to fetch. Default: the
	// configuration, the tokenizer and the safetensors weights.
	Files []string

	// SHA256 pins files by name, in lower-case hexadecimal. A pinned weight
	// file allows a revision that is not a commit hash.
	SHA256 map[string]string
}

// Result is a checkpoint in the cache.
type Result struct {
	Ref     Ref    // with the commit as its revision
	Dir     string // the folder that holds the files
	Files   []File // what was asked for, each with its SHA-256
	Fetched int64  // bytes that came over the network in this pull
}

// Pull makes the cache hold a checkpoint and returns its folder. Files that are
// there already are read and checked, not fetched; a checkpoint that is there
// whole needs no hub. What was cut off, in this process or an earlier one, is
// continued. The folder of a checkpoint appears when all of it is right.
func (c *Client) Pull(ctx context.Context, ref Ref, opts *PullOptions) (*Result, error) {
	var o PullOptions
	if opts != nil {
		o = *opts
	}
	if err := ref.check(); err != nil {
		return nil, err
	}
	for name, sum := range o.SHA256 {
		if err := checkFileName(name); err != nil {
			return nil, fmt.Errorf("hub: %s: %w", ref, err)
		}
		if !isHex(sum, 64) {
			return nil, fmt.Errorf("hub: %s: %s: sha256 %q: expected 64 lower-case hex digits", ref, name, sum)
		}
	}
	p := &pull{c: c, opts: o}
	var err error
	if p.ref, err = p.pin(ctx, ref); err != nil {
		return nil, err
	}
	return p.run(ctx)
}

// pull is one call of Pull.
type pull struct {
	c       *Client
	opts    PullOptions
	ref     Ref      // the revision is a commit
	table   []File   // of the known checkpoints; nil where unknown
	listing *listing // asked for once
	moving  bool     // the caller's revision can move: every file of weights needs a pin of its own
	done    int64
	total   int64
	fetched int64
}

// pin finds the commit to fetch.
func (p *pull) pin(ctx context.Context, ref Ref) (Ref, error) {
	if r, files, ok := Known(ref); ok {
		p.table = files
		return r, nil
	}
	if ref.Commit() {
		return ref, nil
	}
	if ref.Revision == "" {
		ref.Revision = "main"
	}
	l, err := p.c.list(ctx, ref)
	if err != nil {
		return Ref{}, err
	}
	at := Ref{Name: ref.Name, Revision: l.commit}
	if !p.pinsWeights() {
		return Ref{}, fmt.Errorf("hub: %s: %w: nothing is fetched without a pinned digest; %q is a name that can move, at this moment it means %s", ref, ErrUnpinned, ref.Revision, at)
	}
	p.listing, p.moving = l, true
	return at, nil
}

// pinsWeights reports whether the caller's digests name a file of weights.
func (p *pull) pinsWeights() bool {
	for name := range p.opts.SHA256 {
		if isWeights(name) {
			return true
		}
	}
	return false
}

func isWeights(name string) bool {
	return strings.HasSuffix(name, ".safetensors") || strings.HasSuffix(name, ".gguf")
}

// run works under the checkpoint's lock.
func (p *pull) run(ctx context.Context) (*Result, error) {
	repo := filepath.Join(p.c.opts.Cache, strings.ReplaceAll(p.ref.Name, "/", "--"))
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return nil, fmt.Errorf("hub: %s: cache: %w", p.ref, err)
	}
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: cache: %w", p.ref, err)
	}
	defer root.Close()
	unlock, err := lock(ctx, root, "."+p.ref.Revision+".lock")
	if err != nil {
		return nil, fmt.Errorf("hub: %s: cache: %w", p.ref, err)
	}
	defer unlock()

	res := &Result{Ref: p.ref, Dir: filepath.Join(repo, p.ref.Revision)}
	if files := p.cached(root); files != nil {
		res.Files = files
		return res, nil
	}
	dir, staging, err := p.folder(root)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: cache: %w", p.ref, err)
	}
	defer dir.Close()
	notes, err := p.fetchAll(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := p.finish(root, dir, staging, notes); err != nil {
		return nil, fmt.Errorf("hub: %s: cache: %w", p.ref, err)
	}
	for _, n := range notes {
		res.Files = append(res.Files, File{Name: n.Name, Size: n.Size, SHA256: n.SHA256})
	}
	res.Fetched = p.fetched
	return res, nil
}

// cached returns the files of a checkpoint that the cache has whole, having
// read them all; nil where it has not.
func (p *pull) cached(root *os.Root) []File {
	dir, err := root.OpenRoot(p.ref.Revision)
	if err != nil {
		return nil
	}
	defer dir.Close()
	m := readManifest(dir, p.ref)
	if m == nil || len(p.opts.Files) == 0 && !m.Default {
		return nil
	}
	have := map[string]File{}
	for _, f := range m.files() {
		have[f.Name] = f
	}
	names := p.opts.Files
	if len(names) == 0 {
		for _, f := range m.Files {
			names = append(names, f.Name)
		}
	}
	pins := map[string]string{}
	for _, f := range p.table {
		pins[f.Name] = f.SHA256
	}
	for n, sum := range p.opts.SHA256 {
		if _, ok := have[n]; !ok {
			return nil
		}
		pins[n] = sum
	}
	var files []File
	for _, n := range names {
		f, ok := have[n]
		if !ok || pins[n] != "" && pins[n] != f.SHA256 {
			return nil
		}
		files = append(files, f)
		p.total += f.Size
	}
	for _, f := range files {
		if _, err := verify(dir, f); err != nil {
			p.total = 0
			return nil
		}
	}
	return files
}

// folder opens the folder to fetch into: the checkpoint's own, where it exists
// and is to be completed, or else one that will be renamed.
func (p *pull) folder(root *os.Root) (dir *os.Root, staging string, err error) {
	if dir, err := root.OpenRoot(p.ref.Revision); err == nil {
		return dir, "", nil
	}
	staging = "." + p.ref.Revision + ".partial"
	if err := root.Mkdir(staging, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, "", err
	}
	dir, err = root.OpenRoot(staging)
	return dir, staging, err
}

// fetchAll fetches the chosen files and, after an index, its shards.
func (p *pull) fetchAll(ctx context.Context, dir *os.Root) ([]fileNote, error) {
	files, err := p.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.account(files); err != nil {
		return nil, err
	}
	last := files[len(files)-1]
	sharded := last.Name == indexName && len(p.opts.Files) == 0
	if !sharded {
		if err := p.checkPins(files); err != nil {
			return nil, err
		}
	}
	notes, err := p.each(ctx, dir, files, nil)
	if err != nil || !sharded {
		return notes, err
	}
	more, err := p.shards(dir)
	if err == nil {
		err = p.account(more)
	}
	if err == nil {
		err = p.checkPins(append(files, more...))
	}
	if err != nil {
		return nil, err
	}
	return p.each(ctx, dir, more, notes)
}

// each fetches files in order.
func (p *pull) each(ctx context.Context, dir *os.Root, files []File, notes []fileNote) ([]fileNote, error) {
	for _, f := range files {
		n, err := p.one(ctx, dir, f)
		if err != nil {
			return nil, err
		}
		notes = append(notes, n)
	}
	return notes, nil
}

// checkPins holds the caller's digests against all files of the pull: each has
// its file, and where the revision can move each file of weights has one.
func (p *pull) checkPins(files []File) error {
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = true
		if p.moving && isWeights(f.Name) && p.opts.SHA256[f.Name] == "" {
			return fmt.Errorf("hub: %s: %s: %w: no sha256 was given for it, and the revision was not a commit", p.ref, f.Name, ErrUnpinned)
		}
	}
	for n := range p.opts.SHA256 {
		if !names[n] {
			return fmt.Errorf("hub: %s: %w: %s, for which a sha256 was given, is not among the files to fetch", p.ref, ErrNoFile, n)
		}
	}
	return nil
}

// choose returns the files to fetch with their digests.
func (p *pull) choose(ctx context.Context) ([]File, error) {
	if p.table != nil && len(p.opts.Files) == 0 {
		return p.pinned(p.table)
	}
	if p.listing == nil {
		l, err := p.c.list(ctx, p.ref)
		if err != nil {
			return nil, err
		}
		p.listing = l
	}
	var files []File
	var err error
	if len(p.opts.Files) > 0 {
		files, err = chooseNamed(p.listing, p.opts.Files)
	} else {
		files, err = choose(p.listing)
	}
	if err != nil {
		return nil, fmt.Errorf("hub: %s: %w", p.ref, err)
	}
	return p.pinned(files)
}

// pinned puts the stronger digests in: the caller's, then the table's.
func (p *pull) pinned(files []File) ([]File, error) {
	files = append([]File(nil), files...)
	for i := range files {
		f := &files[i]
		for _, k := range p.table {
			if k.Name == f.Name {
				*f = k
			}
		}
		if sum := p.opts.SHA256[f.Name]; sum != "" {
			if f.SHA256 != "" && f.SHA256 != sum {
				return nil, fmt.Errorf("hub: %s: %s: %w: expected sha256 %s, the hub has %s", p.ref, f.Name, ErrDigest, sum, f.SHA256)
			}
			f.SHA256, f.GitSHA1 = sum, ""
		}
	}
	return files, nil
}

// shards reads the index that has just been fetched.
func (p *pull) shards(dir *os.Root) ([]File, error) {
	index, err := readSmall(dir, indexName)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: %s: %w", p.ref, indexName, err)
	}
	files, err := shards(index, p.listing)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: %w", p.ref, err)
	}
	return p.pinned(files)
}

// account adds files to the total, within the limit.
func (p *pull) account(files []File) error {
	for _, f := range files {
		if f.Size > p.c.opts.MaxBytes-p.total {
			return fmt.Errorf("hub: %s: %s of %d bytes: %w: %d bytes in all", p.ref, f.Name, f.Size, ErrTooLarge, p.c.opts.MaxBytes)
		}
		p.total += f.Size
	}
	return nil
}

// one fetches one file.
func (p *pull) one(ctx context.Context, dir *os.Root, f File) (fileNote, error) {
	sum, err := p.c.fetch(ctx, dir, p.ref, f, func(delta int64, network bool) {
		p.done += delta
		if network {
			p.fetched += delta
		}
		if p.c.opts.Progress != nil {
			p.c.opts.Progress(Progress{File: f.Name, Done: p.done, Total: p.total})
		}
	})
	return fileNote{Name: f.Name, Size: f.Size, SHA256: sum}, err
}

// finish writes the manifest and, for a new checkpoint, gives the folder its
// name, so that a folder with that name is always whole.
func (p *pull) finish(root, dir *os.Root, staging string, notes []fileNote) error {
	m := readManifest(dir, p.ref)
	if m == nil {
		m = &manifest{Version: manifestVersion, Name: p.ref.Name, Commit: p.ref.Revision}
	}
	m.merge(notes)
	m.Default = m.Default || len(p.opts.Files) == 0
	if err := m.write(dir); err != nil {
		return err
	}
	if staging == "" {
		return nil
	}
	return root.Rename(staging, p.ref.Revision)
}
