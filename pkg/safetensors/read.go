package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// prefixLen is the length in bytes of the number before the header.
const prefixLen = 8

// readHeader reads and checks the header of a file of size bytes. It returns
// the offset of the data too. It reads no further than that, and allocates no
// more than it could read.
func readHeader(r io.Reader, size int64, opts *Options) (h *header, dataStart int64, err error) {
	if size < prefixLen {
		return nil, 0, fmt.Errorf("%w: %d bytes, a header takes %d at least", ErrTruncated, size, prefixLen)
	}
	var prefix [prefixLen]byte
	if n, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, 0, cutShort(err, int64(n), prefixLen)
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if most := opts.maxHeader(); n > most {
		return nil, 0, fmt.Errorf("%w: %d bytes, the limit is %d (Options.MaxHeader)", ErrHeaderTooLarge, n, most)
	}
	if n > uint64(size-prefixLen) {
		return nil, 0, fmt.Errorf("%w: the header has %d bytes, the file %d after its first %d",
			ErrTruncated, n, size-prefixLen, prefixLen)
	}
	text, err := readBytes(r, int64(n))
	if err != nil {
		return nil, 0, err
	}
	dataStart = prefixLen + int64(n)
	h, err = parseHeader(text, uint64(size-dataStart))
	return h, dataStart, err
}

// readBytes reads n bytes. The slice grows as they come, whatever n says.
func readBytes(r io.Reader, n int64) ([]byte, error) {
	const trusted = 1 << 20
	if n <= trusted {
		text := make([]byte, n)
		got, err := io.ReadFull(r, text)
		return text, cutShort(err, int64(got), n)
	}
	var buf bytes.Buffer
	got, err := io.CopyN(&buf, r, n)
	return buf.Bytes(), cutShort(err, got, n)
}

// cutShort returns err, as ErrTruncated if it says that the input ended.
func cutShort(err error, got, want int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ended after %d of %d bytes", ErrTruncated, got, want)
	}
	return err
}
