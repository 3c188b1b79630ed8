package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// digests hashes a file both ways that a File may be pinned by.
type digests struct{ sha256, git hash.Hash }

func newDigests(size int64) *digests {
	d := &digests{sha256: sha256.New(), git: sha1.New()}
	fmt.Fprintf(d.git, "blob %d\x00", size) // gitformat-pack: a blob is hashed with this header
	return d
}

func (d *digests) Write(p []byte) (int, error) {
	d.git.Write(p)
	return d.sha256.Write(p)
}

// check compares with what the file has to be.
func (d *digests) check(f File) error {
	sha := hex.EncodeToString(d.sha256.Sum(nil))
	if f.SHA256 != "" {
		if sha != f.SHA256 {
			return fmt.Errorf("%s: %w: expected sha256 %s, found %s", f.Name, ErrDigest, f.SHA256, sha)
		}
		return nil
	}
	if git := hex.EncodeToString(d.git.Sum(nil)); git != f.GitSHA1 {
		return fmt.Errorf("%s: %w: expected Git blob %s, found %s", f.Name, ErrDigest, f.GitSHA1, git)
	}
	return nil
}

// pin is the digest that decides, as one word.
func (f File) pin() string {
	if f.SHA256 != "" {
		return "sha256:" + f.SHA256
	}
	return "gitsha1:" + f.GitSHA1
}

// verify reads a finished file and returns its SHA-256.
func verify(root *os.Root, want File) (string, error) {
	f, err := root.Open(want.Name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return "", err
	} else if !st.Mode().IsRegular() || st.Size() != want.Size {
		return "", fmt.Errorf("%s: %w: expected %d bytes, found %d", want.Name, ErrSize, want.Size, st.Size())
	}
	sum := newDigests(want.Size)
	if _, err := io.Copy(sum, io.LimitReader(f, want.Size+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.sha256.Sum(nil)), sum.check(want)
}
