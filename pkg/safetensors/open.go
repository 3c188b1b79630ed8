package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Open opens a checkpoint: a .safetensors file, an index whose name ends in
// .json, or a folder that holds model.safetensors or else
// model.safetensors.index.json. opts may be nil.
//
// Errors wrap the operating system's, or the Err value of the rule that the
// file breaks. Nothing stays open after an error.
func Open(path string, opts *Options) (*File, error) {
	return open(osFolder(), path, filepath.Dir, opts)
}

// OpenFS is [Open] in a file system; "." is its root folder. A file that is an
// *os.File, as [os.DirFS] and [os.Root.FS] give them, is mapped; any other is
// read into memory. opts may be nil.
func OpenFS(fsys fs.FS, name string, opts *Options) (*File, error) {
	dir := func(name string) string {
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			return name[:i]
		}
		return "."
	}
	return open(fsFolder(fsys), name, dir, opts)
}

func open(d folder, path string, dir func(string) string, opts *Options) (*File, error) {
	name, err := d.resolve(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	if strings.HasSuffix(name, ".json") {
		return openIndex(d, name, dir(name), opts)
	}
	f := newFile(opts)
	if err := f.openShard(d, name, name, opts); err != nil {
		_ = f.release()
		return nil, fmt.Errorf("safetensors: %s: %w", name, err)
	}
	f.finish()
	return f, nil
}

// openIndex opens the shards that the index lists.
func openIndex(d folder, name, dir string, opts *Options) (*File, error) {
	x, err := readIndex(d, name, opts)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s: %w", name, err)
	}
	f := newFile(opts)
	for _, shard := range x.shards {
		err := f.openShard(d, d.join(dir, shard), shard, opts)
		if err == nil {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrMissingShard, err)
		}
		_ = f.release()
		return nil, fmt.Errorf("safetensors: %s: shard %s: %w", name, quote(shard), err)
	}
	if err := x.check(f.entries); err != nil {
		_ = f.release()
		return nil, fmt.Errorf("safetensors: %s: %w", name, err)
	}
	f.finish()
	return f, nil
}

func readIndex(d folder, name string, opts *Options) (*index, error) {
	file, size, err := d.regular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if most := opts.maxHeader(); uint64(size) > most {
		return nil, fmt.Errorf("%w: an index of %d bytes, the limit is %d (Options.MaxHeader)",
			ErrHeaderTooLarge, size, most)
	}
	text, err := readBytes(file, size)
	if err != nil {
		return nil, err
	}
	return parseIndex(text)
}

// openShard opens one file and adds its tensors to f.
func (f *File) openShard(d folder, path, name string, opts *Options) error {
	file, size, err := d.regular(path)
	if err != nil {
		return err
	}
	defer file.Close() // a mapping stays without its file
	h, start, err := readHeader(file, size, opts)
	if err != nil {
		return err
	}
	s := shard{name: name, start: start, size: size - start}
	if s.size > 0 {
		osFile, isOS := file.(*os.File)
		if canMap && isOS && f.memory == Mapped {
			if s.region, err = mapFile(osFile, size); err != nil {
				return err
			}
			s.data = s.region.used[start:size:size]
		} else {
			if s.region, err = readRegion(file, s.size, f.memory == Huge); err != nil {
				return err
			}
			s.data = s.region.used
			f.copied = true
		}
	}
	f.add(s, h)
	return nil
}

// Parse opens a checkpoint that lies in memory: the bytes of one .safetensors
// file. The tensors' Data are parts of data, which must not be changed while
// they are used; only with [Options.Memory] Private or Huge are they copied.
// opts may be nil.
func Parse(data []byte, opts *Options) (*File, error) {
	f, err := parse(data, opts)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

func parse(data []byte, opts *Options) (*File, error) {
	r := bytes.NewReader(data)
	h, start, err := readHeader(r, int64(len(data)), opts)
	if err != nil {
		return nil, err
	}
	f := newFile(opts)
	s := shard{start: start, size: int64(len(data)) - start, data: data[start:len(data):len(data)]}
	if f.memory != Mapped && s.size > 0 {
		if s.region, err = readRegion(r, s.size, f.memory == Huge); err != nil {
			return nil, err
		}
		s.data = s.region.used
	}
	f.add(s, h)
	f.finish()
	return f, nil
}

// NewReader opens one .safetensors file of size bytes that r reads. It reads
// the header alone; [File.Tensor] reads a tensor's data anew at every call and
// [File.Reader] streams it. With [Options.Memory] Private or Huge all data is
// read at once. r must stay open until the File is no longer used; Close does
// not close it. opts may be nil.
func NewReader(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	f, err := newReader(r, size, opts)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

func newReader(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	if size > 0 { // believe the size only if its last byte is there
		var last [1]byte
		if n, err := r.ReadAt(last[:], size-1); n < 1 {
			return nil, fmt.Errorf("byte %d: %w", size-1, cutShort(err, size-1, size))
		}
	}
	section := io.NewSectionReader(r, 0, max(size, 0))
	h, start, err := readHeader(section, size, opts)
	if err != nil {
		return nil, err
	}
	f := newFile(opts)
	s := shard{start: start, size: size - start, reader: r}
	if f.memory != Mapped && s.size > 0 {
		if s.region, err = readRegion(section, s.size, f.memory == Huge); err != nil {
			return nil, err
		}
		s.data, s.reader = s.region.used, nil
	}
	f.add(s, h)
	f.finish()
	return f, nil
}
