package safetensors

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// WriteOptions are the options of [Write] and [Encode]. Nil means the zero
// value.
type WriteOptions struct {
	// KeepOrder writes the tensors in the order given. The data's start is
	// aligned to 64 bytes in any case, the tensors then only by chance.
	KeepOrder bool
	// MaxShard is the greatest number of bytes of tensor data in one file;
	// 0 means no limit. A tensor that is larger gets a file of its own. Encode
	// ignores it.
	MaxShard int64
	// MaxHeader is the greatest length of a header in bytes; 0 means
	// [DefaultMaxHeader], beyond which readers refuse a file.
	MaxHeader int64
}

func (o *WriteOptions) maxHeader() uint64 {
	if o == nil || o.MaxHeader <= 0 {
		return DefaultMaxHeader
	}
	return uint64(o.MaxHeader)
}

// Encode writes the tensors to w as one file. The data begins at a multiple of
// 64 bytes; tensors whose size is a multiple of 64 come first, in the order
// given, and are aligned to 64, the others to their element's size at least.
// The bytes depend on the arguments alone. opts may be nil.
//
// Errors: [ErrName], [ErrDuplicateKey], [ErrSize], [ErrDType], [ErrOverflow],
// [ErrPartialByte] and [ErrHeaderTooLarge], all but a wrong count from a
// Source.Write before anything is written; and what writing gives.
func Encode(w io.Writer, tensors []Source, metadata map[string]string, opts *WriteOptions) error {
	sources, sizes, err := checkSources(tensors, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	l, err := newLayout(sources, sizes, metadata, opts)
	if err == nil {
		err = l.write(w)
	}
	if err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	return nil
}

// write writes the file.
func (l *layout) write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 256<<10)
	if _, err := b.Write(l.header); err != nil {
		return err
	}
	for i, s := range l.sources {
		if err := s.writeTo(b, l.sizes[i]); err != nil {
			return fmt.Errorf("tensor %s: %w", quote(s.Name), err)
		}
	}
	return b.Flush()
}

// Write writes the tensors to a file, as [Encode] does.
//
// The data goes to a temporary file in the same folder, which is synced and
// takes the place of path only when it is complete: path never holds half a
// checkpoint, and tensors may come from a mapping of the very file that is
// replaced. If anything fails the temporary file is removed and path is as
// before. A new file has the permissions 0666 less the process's umask, a
// replaced one keeps its own. A symbolic link is replaced, not followed; a
// device or a folder is refused ([ErrNotRegular]).
//
// If the data exceeds [WriteOptions.MaxShard], the tensors go, in the order
// given, to stem-00001-of-00003.safetensors and so on beside path, with the
// metadata in each, and to stem.safetensors.index.json, which is replaced
// last; stem is path's name without .safetensors. A former path is then
// removed. A crash while shards of the same names are replaced may leave a
// mixture: write a sharded checkpoint to a new folder.
func Write(path string, tensors []Source, metadata map[string]string, opts *WriteOptions) error {
	if err := write(path, tensors, metadata, opts); err != nil {
		return fmt.Errorf("safetensors: write %s: %w", path, err)
	}
	return nil
}

func write(path string, tensors []Source, metadata map[string]string, opts *WriteOptions) error {
	sources, sizes, err := checkSources(tensors, metadata)
	if err != nil {
		return err
	}
	groups := split(sizes, opts)
	if len(groups) <= 1 {
		l, err := newLayout(sources, sizes, metadata, opts)
		if err != nil {
			return err
		}
		var files pendingFiles
		defer files.discard()
		if err := files.add(path, l.write); err != nil {
			return err
		}
		return files.commit()
	}
	return writeShards(path, sources, sizes, groups, metadata, opts)
}

// split returns the shards as ranges [start, end) of tensors.
func split(sizes []uint64, opts *WriteOptions) [][2]int {
	if opts == nil || opts.MaxShard <= 0 {
		return [][2]int{{0, len(sizes)}}
	}
	var groups [][2]int
	start, left := 0, uint64(opts.MaxShard)
	for i, size := range sizes {
		if size > left && i > start {
			groups = append(groups, [2]int{start, i})
			start, left = i, uint64(opts.MaxShard)
		}
		left -= min(size, left)
	}
	return append(groups, [2]int{start, len(sizes)})
}

func writeShards(path string, sources []*Source, sizes []uint64, groups [][2]int,
	metadata map[string]string, opts *WriteOptions) error {
	stem := strings.TrimSuffix(path, ".safetensors")
	var files pendingFiles
	defer files.discard()
	shardOf := make(map[string]string, len(sources))
	total := uint64(0)
	for i, g := range groups {
		shard := fmt.Sprintf("%s-%05d-of-%05d.safetensors", stem, i+1, len(groups))
		l, err := newLayout(sources[g[0]:g[1]], sizes[g[0]:g[1]], metadata, opts)
		if err != nil {
			return err
		}
		for _, s := range l.sources {
			shardOf[s.Name] = filepath.Base(shard)
		}
		total += l.total
		if err := files.add(shard, l.write); err != nil {
			return err
		}
	}
	err := files.add(stem+".safetensors.index.json", func(w io.Writer) error {
		_, err := w.Write(encodeIndex(shardOf, total))
		return err
	})
	if err != nil {
		return err
	}
	if err := checkTarget(path); err != nil {
		return err
	}
	if err := files.commit(); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
