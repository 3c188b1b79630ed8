package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"unicode/utf8"
)

// The causes for which a checkpoint is refused. Errors of this package wrap
// one of them with the file, the tensor or the offset.
var (
	// ErrTruncated: the file ends before what its header announces.
	ErrTruncated = errors.New("file is cut short")
	// ErrHeaderTooLarge: the header is longer than [Options.MaxHeader].
	ErrHeaderTooLarge = errors.New("header too large")
	// ErrSyntax: the header or index is not the JSON that the format asks for:
	// broken, a wrong type, a missing field, not UTF-8.
	ErrSyntax = errors.New("not the JSON of the format")
	// ErrDuplicateKey: a key stands twice in an object, perhaps spelled
	// differently by escapes.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrDType: the dtype is none of the format's.
	ErrDType = errors.New("unknown dtype")
	// ErrOverflow: shape times element size does not fit 64 bits.
	ErrOverflow = errors.New("shape overflows")
	// ErrPartialByte: the elements of a 4- or 6-bit type do not fill whole bytes.
	ErrPartialByte = errors.New("elements do not fill whole bytes")
	// ErrSize: the number of bytes is not shape times element size.
	ErrSize = errors.New("size does not match shape and dtype")
	// ErrOffsets: data_offsets are reversed, leave a hole or overlap.
	ErrOffsets = errors.New("invalid data_offsets")
	// ErrUncovered: bytes follow the last tensor.
	ErrUncovered = errors.New("data not covered by tensors")
)

// The causes that lie in an index and its shards.
var (
	// ErrShardName: the index names a shard outside its folder.
	ErrShardName = errors.New("shard name is not a path inside the folder")
	// ErrMissingShard: a shard that the index names does not exist. The error
	// wraps [fs.ErrNotExist] too.
	ErrMissingShard = errors.New("shard is missing")
	// ErrWrongShard: a tensor is not in the shard that the index gives for it.
	ErrWrongShard = errors.New("tensor is not in the shard that the index gives")
	// ErrTwoShards: a tensor is in more than one shard.
	ErrTwoShards = errors.New("tensor is in two shards")
)

// The causes that lie in the use of this package.
var (
	// ErrNotFound: the checkpoint has no tensor of that name.
	ErrNotFound = errors.New("no such tensor")
	// ErrClosed: the File has been closed. It wraps [fs.ErrClosed].
	ErrClosed = fmt.Errorf("safetensors: %w", fs.ErrClosed)
	// ErrNotRegular: the path is a device, a pipe or the like.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: more bytes than an address space of this system holds.
	ErrTooLarge = errors.New("too large for this system's memory")
	// ErrNotReal: the elements are complex and were asked for as real numbers,
	// or the other way round.
	ErrNotReal = errors.New("dtype does not convert to this kind of number")
	// ErrName: a tensor to be written has a name that the format cannot hold.
	ErrName = errors.New("invalid tensor name")
	// ErrPinLimit: the system lets the process lock no more memory.
	ErrPinLimit = errors.New("memory may not be locked")
	// ErrNotMapped: the data lies in memory that this package did not map.
	ErrNotMapped = errors.New("memory is not mapped by this package")
)

// quote returns s for an error message, cut where it is long: names come from
// files and may have any length.
func quote(s string) string {
	const most = 120
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(s[:cut]), len(s))
}
