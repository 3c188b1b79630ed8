package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// maxListing bounds the JSON of a repository's listing and of a shard index.
const maxListing = 32 << 20

// listing is a repository at a commit.
type listing struct {
	commit string
	files  map[string]File // by path; folders and their files included
}

// list asks the hub for a revision: GET
// /api/models/{name}/revision/{revision}?blobs=true, whose "sha" is the commit
// and whose "siblings" are the files with size, Git blob hash and, for files in
// large-file storage, SHA-256.
func (c *Client) list(ctx context.Context, r Ref) (*listing, error) {
	u := c.endpoint.JoinPath("api", "models", r.Name, "revision")
	u.RawPath = u.EscapedPath() + "/" + url.PathEscape(r.Revision) // a branch name may have slashes
	u.Path += "/" + r.Revision
	u.RawQuery = "blobs=true"
	body, err := c.getJSON(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: list files: %w", r, err)
	}
	l, err := parseListing(body)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: list files: %w", r, err)
	}
	if r.Commit() && l.commit != r.Revision {
		return nil, fmt.Errorf("hub: %s: list files: %w: it is of commit %q", r, ErrAnswer, l.commit)
	}
	return l, nil
}

// parseListing reads the answer of list. Every path is checked here, wanted or
// not: a listing with a path out of its folder is no listing.
func parseListing(body []byte) (*listing, error) {
	var answer struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Path   string `json:"rfilename"`
			Size   *int64 `json:"size"`
			BlobID string `json:"blobId"`
			LFS    *struct {
				SHA256 string `json:"sha256"`
				Size   *int64 `json:"size"`
			} `json:"lfs"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrAnswer, err)
	}
	if !isHex(answer.SHA, 40) {
		return nil, fmt.Errorf("%w: commit %q is not 40 hex digits", ErrAnswer, answer.SHA)
	}
	l := &listing{commit: answer.SHA, files: make(map[string]File, len(answer.Siblings))}
	for _, s := range answer.Siblings {
		if !fs.ValidPath(s.Path) || s.Path == "." || strings.ContainsAny(s.Path, "\\\x00") {
			return nil, fmt.Errorf("%w: %q in the listing", ErrFileName, s.Path)
		}
		f := File{Name: s.Path, Size: -1, GitSHA1: s.BlobID}
		if s.Size != nil {
			f.Size = *s.Size
		}
		if s.LFS != nil {
			f.SHA256, f.GitSHA1 = s.LFS.SHA256, "" // the blob is only a pointer
			if s.LFS.Size != nil {
				f.Size = *s.LFS.Size
			}
		}
		if _, twice := l.files[f.Name]; twice {
			return nil, fmt.Errorf("%w: %q is listed twice", ErrAnswer, f.Name)
		}
		l.files[f.Name] = f
	}
	return l, nil
}

// checked returns the listed file of that name, if it can be pinned.
func (l *listing) checked(name string) (File, error) {
	f, ok := l.files[name]
	switch {
	case !ok:
		return File{}, fmt.Errorf("%w: %s", ErrNoFile, name)
	case f.Size < 0:
		return File{}, fmt.Errorf("%w: %s is listed without a size", ErrAnswer, name)
	case f.SHA256 != "" && !isHex(f.SHA256, 64), f.SHA256 == "" && !isHex(f.GitSHA1, 40):
		return File{}, fmt.Errorf("%w: %s is listed without a digest", ErrUnpinned, name)
	}
	return f, nil
}

// getJSON returns the body of an answer, retried for passing reasons.
func (c *Client) getJSON(ctx context.Context, u *url.URL) ([]byte, error) {
	var body []byte
	err := c.retry(ctx, func() (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return false, err
		}
		req.Header.Set("Accept", "application/json")
		resp, stop, err := c.do(req)
		if err != nil {
			return false, err
		}
		defer stop()
		if resp.StatusCode != http.StatusOK {
			return false, statusError(resp)
		}
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxListing+1))
		if err == nil && len(body) > maxListing {
			err = fmt.Errorf("%w: %s: more than %d bytes", ErrTooLarge, plain(u), maxListing)
		}
		return false, err
	})
	return body, err
}
