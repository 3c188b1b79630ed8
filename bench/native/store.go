package native

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// header is the first line of the raw rows: what they were measured with. Rows
// of different headers are not to be mixed.
type header struct {
	Rig       int       `json:"rig"` // version of the rows
	Began     time.Time `json:"began"`
	Processor string    `json:"processor"`
	Count     int       `json:"processors"`
	Kernel    string    `json:"kernel"`
	Go        string    `json:"go"`
	Infer     string    `json:"infer"`    // SHA-256 of the binary
	Revision  string    `json:"revision"` // of this repository
	Quick     bool      `json:"quick"`
}

// rigVersion changes with what samples mean.
const rigVersion = 2

// same reports whether rows of both headers may stand together.
func (h header) same(o header) bool {
	h.Began, h.Revision = o.Began, o.Revision
	return h == o
}

var (
	// errOtherRun means rows that were measured with something else.
	errOtherRun = errors.New("the rows are of another machine or binary: -fresh begins anew")
	// errRows means a file that holds no rows of this rig.
	errRows = errors.New("no rows of this rig")
)

// A store is the file of raw rows.
type store struct {
	header  header
	samples []sample
	file    *os.File
}

// readRows reads raw rows. A last line that was cut short by a stopped run is
// left out; valid is the length of what was read.
func readRows(r io.Reader) (h header, samples []sample, valid int64, err error) {
	b := bufio.NewReader(r)
	for n := 0; ; n++ {
		line, err := b.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return h, nil, 0, errRows
			}
			return h, samples, valid, nil
		}
		if err != nil {
			return h, nil, 0, err
		}
		if n == 0 {
			if err := json.Unmarshal(line, &h); err != nil || h.Rig == 0 {
				return h, nil, 0, errRows
			}
		} else {
			var s sample
			if err := json.Unmarshal(line, &s); err != nil {
				return h, nil, 0, fmt.Errorf("row %d: %w", n, err)
			}
			samples = append(samples, s)
		}
		valid += int64(len(line))
	}
}

// openStore opens the file at path to go on with it, or begins it. With fresh,
// what is there is moved aside, to the same name with ".old".
func openStore(path string, h header, fresh bool) (*store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if fresh {
		if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s := &store{header: h, file: f}
	if err := s.resume(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *store) resume() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return s.write(s.header)
	}
	h, samples, valid, err := readRows(s.file)
	if err != nil {
		return err
	}
	if len(samples) == 0 { // nothing was measured yet
		if err := s.file.Truncate(0); err != nil {
			return err
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return s.write(s.header)
	}
	if !h.same(s.header) {
		return errOtherRun
	}
	s.header, s.samples = h, samples
	if err := s.file.Truncate(valid); err != nil {
		return err
	}
	_, err = s.file.Seek(valid, io.SeekStart)
	return err
}

func (s *store) write(row any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(row); err != nil {
		return err
	}
	_, err := s.file.Write(b.Bytes())
	return err
}

// add writes a sample to the file.
func (s *store) add(x sample) error {
	s.samples = append(s.samples, x)
	return s.write(x)
}

// missing returns the items that have no sample yet. With again, those whose
// sample failed or was disturbed are among them.
func (s *store) missing(items []item, again bool) []item {
	have := map[item]bool{}
	for _, x := range s.samples {
		if !again || x.Error == "" && !x.Noisy {
			have[x.item] = true
		}
	}
	var left []item
	for _, i := range items {
		if !have[i] {
			left = append(left, i)
		}
	}
	return left
}

// last returns the samples, of those for one item only the last.
func last(samples []sample) []sample {
	index := map[item]int{}
	var kept []sample
	for _, x := range samples {
		if i, ok := index[x.item]; ok {
			kept[i] = x
			continue
		}
		index[x.item] = len(kept)
		kept = append(kept, x)
	}
	return kept
}

func (s *store) close() error { return s.file.Close() }
