package hub

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// manifestName is the file in a checkpoint's folder that says what was fetched.
// Its presence marks a folder as whole.
const manifestName = "leveret.json"

// manifest is the content of that file.
type manifest struct {
	Version int        `json:"version"`
	Name    string     `json:"name"`
	Commit  string     `json:"commit"`
	Default bool       `json:"default"` // every file that a pull without names fetches is here
	Files   []fileNote `json:"files"`
}

type fileNote struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const manifestVersion = 1

// readManifest returns the manifest of a folder, nil where there is none. One
// that cannot be understood counts as none: the files are checked anew.
func readManifest(root *os.Root, ref Ref) *manifest {
	b, err := readSmall(root, manifestName)
	var m manifest
	if err != nil || json.Unmarshal(b, &m) != nil || m.Version != manifestVersion || m.Name != ref.Name || m.Commit != ref.Revision {
		return nil
	}
	for _, f := range m.Files {
		if checkFileName(f.Name) != nil || !isHex(f.SHA256, 64) {
			return nil
		}
	}
	return &m
}

// write puts the manifest in place, whole or not at all.
func (m *manifest) write(root *os.Root) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	tmp := manifestName + partSuffix
	if err := root.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return root.Rename(tmp, manifestName)
}

// merge adds files, the newer note of a name winning.
func (m *manifest) merge(notes []fileNote) {
	for _, n := range notes {
		at := -1
		for i := range m.Files {
			if m.Files[i].Name == n.Name {
				at = i
			}
		}
		if at < 0 {
			m.Files = append(m.Files, n)
		} else {
			m.Files[at] = n
		}
	}
}

// files returns what the manifest says that the folder holds.
func (m *manifest) files() []File {
	files := make([]File, len(m.Files))
	for i, n := range m.Files {
		files[i] = File{Name: n.Name, Size: n.Size, SHA256: n.SHA256}
	}
	return files
}

// readSmall reads a file of our own making.
func readSmall(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxListing+1))
	if err == nil && len(b) > maxListing {
		err = fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	return b, err
}
