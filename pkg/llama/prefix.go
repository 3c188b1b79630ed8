package llama

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// ErrPrefix is the cause of errors of Restore: a file that is no saved prefix,
// is damaged, or belongs to another model.
var ErrPrefix = errors.New("llama: saved prefix")

// A saved prefix is, in little endian: prefixMagic; the version (u32); the
// model's digest (32 bytes); layers, dim and n (u32 each); n token ids (u32);
// for each layer n·dim keys and n·dim values (float32); vocab_size (u32) and as
// many logits; the SHA-256 of everything before it.
const (
	prefixMagic   = "LEVERETKV"
	prefixVersion = 1
)

// Save writes the session's tokens, their keys and values, and the logits, so
// that Restore can go on from there without computing the tokens again. Tokens
// that were not computed yet are computed first.
func (s *Session) Save(w io.Writer) error {
	if s.kv == nil {
		return ErrClosed
	}
	if len(s.tokens) == 0 {
		return ErrNoPrompt
	}
	if err := s.compute(context.Background()); err != nil {
		return err
	}
	digest, err := s.m.Digest()
	if err != nil {
		return err
	}
	h := sha256.New()
	p := prefixWriter{w: bufio.NewWriterSize(io.MultiWriter(w, h), 1<<16)}
	p.bytes([]byte(prefixMagic))
	p.u32(prefixVersion)
	p.bytes(digest[:])
	n := len(s.tokens)
	p.u32(len(s.kv.k))
	p.u32(s.kv.dim)
	p.u32(n)
	for _, id := range s.tokens {
		p.u32(id)
	}
	for l := range s.kv.k {
		p.floats(s.kv.k[l][:n*s.kv.dim])
		p.floats(s.kv.v[l][:n*s.kv.dim])
	}
	p.u32(len(s.logits))
	p.floats(s.logits)
	if err := p.w.Flush(); err != nil {
		return err
	}
	_, err = w.Write(h.Sum(nil))
	return err
}

type prefixWriter struct {
	w   *bufio.Writer // keeps the first error
	buf [4]byte
}

func (p *prefixWriter) bytes(b []byte) { p.w.Write(b) }

func (p *prefixWriter) u32(v int) {
	binary.LittleEndian.PutUint32(p.buf[:], uint32(v))
	p.w.Write(p.buf[:])
}

func (p *prefixWriter) floats(x []float32) {
	for _, v := range x {
		binary.LittleEndian.PutUint32(p.buf[:], math.Float32bits(v))
		p.w.Write(p.buf[:])
	}
}

// Restore replaces the session's tokens by those of a saved prefix and goes on
// from there. A file of another model, of another version, that does not fit in
// the context, or that is damaged is an error (ErrPrefix, or ErrContext); the
// session is then empty.
func (s *Session) Restore(r io.Reader) error {
	if s.kv == nil {
		return ErrClosed
	}
	if err := s.Truncate(0); err != nil {
		return err
	}
	err := s.restore(r)
	if err != nil {
		s.tokens, s.computed, s.current = s.tokens[:0], 0, false
	}
	return err
}

func (s *Session) restore(r io.Reader) error {
	digest, err := s.m.Digest()
	if err != nil {
		return err
	}
	p := prefixReader{r: bufio.NewReaderSize(r, 1<<16), hash: sha256.New()}
	if magic := p.bytes(len(prefixMagic)); p.err == nil && string(magic) != prefixMagic {
		return fmt.Errorf("%w: begins with %q, expected %q", ErrPrefix, magic, prefixMagic)
	}
	if v := p.u32(); p.err == nil && v != prefixVersion {
		return fmt.Errorf("%w: version %d, expected %d", ErrPrefix, v, prefixVersion)
	}
	if d := p.bytes(len(digest)); p.err == nil && !bytes.Equal(d, digest[:]) {
		return fmt.Errorf("%w: of a model with digest %x, this one has %x", ErrPrefix, d, digest)
	}
	layers, dim, n := p.u32(), p.u32(), p.u32()
	switch {
	case p.err != nil:
		return p.err
	case layers != len(s.kv.k) || dim != s.kv.dim:
		return fmt.Errorf("%w: %d layers of %d values, expected %d of %d", ErrPrefix, layers, dim, len(s.kv.k), s.kv.dim)
	case n < 1:
		return fmt.Errorf("%w: holds no tokens", ErrPrefix)
	case n > s.kv.capacity:
		return fmt.Errorf("%w: a saved prefix of %d tokens, the context is %d", ErrContext, n, s.kv.capacity)
	}
	for i := range n {
		id := p.u32()
		if p.err == nil && id >= s.m.config.VocabSize {
			return fmt.Errorf("%w: token %d at position %d, expected less than %d", ErrPrefix, id, i, s.m.config.VocabSize)
		}
		s.tokens = append(s.tokens, id)
	}
	for l := range s.kv.k {
		p.floats(s.kv.k[l][:n*dim])
		p.floats(s.kv.v[l][:n*dim])
	}
	if v := p.u32(); p.err == nil && v != len(s.logits) {
		return fmt.Errorf("%w: %d logits, expected %d", ErrPrefix, v, len(s.logits))
	}
	p.floats(s.logits)
	sum := p.hash.Sum(nil)
	if got := p.bytes(len(sum)); p.err == nil && !bytes.Equal(got, sum) {
		return fmt.Errorf("%w: is damaged: SHA-256 %x, expected %x", ErrPrefix, sum, got)
	}
	if p.err != nil {
		return p.err
	}
	s.computed, s.current = n, true
	return nil
}

// prefixReader reads and hashes until the first error.
type prefixReader struct {
	r    *bufio.Reader
	hash hash.Hash
	buf  [1 << 12]byte
	err  error
}

// bytes reads n bytes, at most len(p.buf).
func (p *prefixReader) bytes(n int) []byte {
	b := p.buf[:n]
	if p.err != nil {
		return b
	}
	if _, err := io.ReadFull(p.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: is cut short: %w", ErrPrefix, io.ErrUnexpectedEOF)
		}
		p.err = err
		return b
	}
	p.hash.Write(b)
	return b
}

func (p *prefixReader) u32() int { return int(binary.LittleEndian.Uint32(p.bytes(4))) }

func (p *prefixReader) floats(x []float32) {
	for len(x) > 0 && p.err == nil {
		n := min(len(x), len(p.buf)/4)
		b := p.bytes(4 * n)
		for i := range n {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		x = x[n:]
	}
}
