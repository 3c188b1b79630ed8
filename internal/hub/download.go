package hub

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// partSuffix marks a file that is not whole yet.
const partSuffix = ".part"

// download is one file on its way into a folder. The bytes go to NAME.part and
// are hashed as they come; once they are whole and right the file gets its
// name. NAME.part.json remembers what the part is a part of, so that a later
// process continues it only where that makes sense.
type download struct {
	c    *Client
	root *os.Root
	ref  Ref
	want File

	part     *os.File
	have     int64 // bytes in part
	sum      *digests
	resumed  bool // part began with bytes of an earlier connection
	note     partNote
	progress func(delta int64, network bool)
}

// partNote is the content of NAME.part.json.
type partNote struct {
	Want string `json:"want"` // the digest of the whole
	ETag string `json:"etag"` // the validator that came with the bytes
}

// fetch makes root hold the file, whole and right, and returns its SHA-256.
func (c *Client) fetch(ctx context.Context, root *os.Root, ref Ref, want File, progress func(int64, bool)) (string, error) {
	if sum, err := verify(root, want); err == nil {
		progress(want.Size, false)
		return sum, nil
	}
	d := &download{c: c, root: root, ref: ref, want: want, progress: progress}
	if err := d.open(); err != nil {
		return "", fmt.Errorf("hub: %s: %s: %w", ref, want.Name, err)
	}
	defer func() { d.part.Close() }()
	err := d.run(ctx)
	if errors.Is(err, ErrDigest) && d.resumed {
		// The part was of something else. Once more, from nothing.
		if err = d.restart(); err == nil {
			err = d.run(ctx)
		}
	}
	if err != nil {
		if errors.Is(err, ErrDigest) || errors.Is(err, ErrSize) {
			root.Remove(want.Name + partSuffix)
			root.Remove(want.Name + partSuffix + ".json")
		}
		return "", fmt.Errorf("hub: %s: %w", ref, err)
	}
	return hex.EncodeToString(d.sum.sha256.Sum(nil)), nil
}

// open takes up an earlier part, if it is one of this very file.
func (d *download) open() error {
	name := d.want.Name + partSuffix
	var note partNote
	if b, err := readSmall(d.root, name+".json"); err == nil && json.Unmarshal(b, &note) == nil && note.Want == d.want.pin() {
		d.note = note
	}
	var err error
	if d.part, err = d.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	st, err := d.part.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	d.sum = newDigests(d.want.Size)
	if d.note.Want == "" || st.Size() > d.want.Size {
		return d.restart()
	}
	if d.have, err = io.Copy(d.sum, d.part); err != nil {
		return err
	}
	d.resumed = d.have > 0
	d.progress(d.have, false)
	return nil
}

// restart forgets what has been fetched.
func (d *download) restart() error {
	d.progress(-d.have, false)
	d.have, d.resumed, d.note, d.sum = 0, false, partNote{}, newDigests(d.want.Size)
	if err := d.part.Truncate(0); err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	if _, err := d.part.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	return nil
}

// run fetches what is missing, checks the whole and gives it its name.
func (d *download) run(ctx context.Context) error {
	err := d.c.retry(ctx, func() (bool, error) {
		before := d.have
		err := d.connection(ctx)
		return d.have > before, err
	})
	if err != nil {
		return err
	}
	if err := d.sum.check(d.want); err != nil {
		return err
	}
	name := d.want.Name
	if err := d.part.Sync(); err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	if err := d.root.Rename(name+partSuffix, name); err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	d.root.Remove(name + partSuffix + ".json")
	return nil
}

// connection asks for the missing bytes once and stores those that come.
func (d *download) connection(ctx context.Context) error {
	missing := d.want.Size - d.have
	if missing == 0 && d.have > 0 {
		return nil
	}
	u := d.c.endpoint.JoinPath(d.ref.Name, "resolve", d.ref.Revision, d.want.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges and sizes are of the file itself
	if d.have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.have))
		if d.note.ETag != "" {
			req.Header.Set("If-Range", d.note.ETag) // changed: the whole comes instead
		}
	}
	resp, stop, err := d.c.do(req)
	if err != nil {
		return err
	}
	defer stop()

	switch resp.StatusCode {
	case http.StatusOK:
		if d.have > 0 {
			if err := d.restart(); err != nil {
				return err
			}
			missing = d.want.Size
		}
	case http.StatusPartialContent:
		if err := checkRange(resp.Header.Get("Content-Range"), d.have, d.want.Size); err != nil {
			return fmt.Errorf("%s: %w", d.want.Name, err)
		}
		d.resumed = true
	case http.StatusRequestedRangeNotSatisfiable:
		if d.have == 0 {
			return statusError(resp)
		}
		from := d.have
		if err := d.restart(); err != nil {
			return err
		}
		return fmt.Errorf("%s: the server has nothing from byte %d on", d.want.Name, from)
	default:
		return fmt.Errorf("%s: %w", d.want.Name, statusError(resp))
	}
	if n := resp.ContentLength; n >= 0 && n != missing {
		return fmt.Errorf("%s: %w: expected %d bytes, the server has %d", d.want.Name, ErrSize, d.want.Size, d.have+n)
	}
	if err := d.remember(resp.Header.Get("ETag")); err != nil {
		return err
	}
	return d.store(resp.Body, missing)
}

// remember notes what the bytes that follow belong to. Only a strong validator
// may stand in If-Range (RFC 9110, 13.1.5).
func (d *download) remember(etag string) error {
	if strings.HasPrefix(etag, "W/") || len(etag) > 256 {
		etag = ""
	}
	note := partNote{Want: d.want.pin(), ETag: etag}
	if note == d.note {
		return nil
	}
	d.note = note
	b, err := json.Marshal(note)
	if err == nil {
		err = d.root.WriteFile(d.want.Name+partSuffix+".json", b, 0o644)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errLocal, err)
	}
	return nil
}

// store appends n bytes, no more, and says so when the server has another
// number of them.
func (d *download) store(body io.Reader, n int64) error {
	buf := make([]byte, 128<<10)
	for n > 0 {
		k, err := body.Read(buf[:min(n, int64(len(buf)))])
		if k > 0 {
			if _, werr := d.part.Write(buf[:k]); werr != nil {
				return fmt.Errorf("%w: %w", errLocal, werr)
			}
			d.sum.Write(buf[:k])
			d.have += int64(k)
			n -= int64(k)
			d.progress(int64(k), true)
		}
		switch {
		case n == 0:
		case err == io.EOF:
			return fmt.Errorf("%s: %w after %d of %d bytes", d.want.Name, io.ErrUnexpectedEOF, d.have, d.want.Size)
		case err != nil:
			return fmt.Errorf("%s: after %d of %d bytes: %w", d.want.Name, d.have, d.want.Size, err)
		}
	}
	if k, _ := io.ReadFull(body, buf[:1]); k > 0 {
		return fmt.Errorf("%s: %w: expected %d bytes, the server has more", d.want.Name, ErrSize, d.want.Size)
	}
	return nil
}
