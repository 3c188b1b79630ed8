package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
)

// maxNPY bounds a file of reference logits.
const maxNPY = 1 << 30

var npyHeader = regexp.MustCompile(`^\{'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\), \}\s*$`)

// readNPY reads a matrix of little-endian float32 in NumPy's format
// (numpy.lib.format, versions 1 and 2), row after row.
func readNPY(name string) ([][]float32, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxNPY+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxNPY {
		return nil, fmt.Errorf("%s: more than %d bytes", name, maxNPY)
	}
	m, err := parseNPY(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func parseNPY(b []byte) ([][]float32, error) {
	rest, ok := bytes.CutPrefix(b, []byte("\x93NUMPY"))
	if !ok || len(rest) < 6 || rest[0] < 1 || rest[0] > 2 {
		return nil, fmt.Errorf("not a NumPy file of version 1 or 2")
	}
	n, at := int64(binary.LittleEndian.Uint16(rest[2:])), int64(4)
	if rest[0] == 2 {
		n, at = int64(binary.LittleEndian.Uint32(rest[2:])), 6
	}
	if n > int64(len(rest))-at {
		return nil, fmt.Errorf("header of %d bytes, the file ends before", n)
	}
	match := npyHeader.FindSubmatch(rest[at : at+n])
	if match == nil {
		return nil, fmt.Errorf("header %.120q: expected a float32 matrix in C order", rest[at:at+n])
	}
	rows, err1 := strconv.ParseInt(string(match[1]), 10, 32)
	cols, err2 := strconv.ParseInt(string(match[2]), 10, 32)
	data := rest[at+n:]
	if err1 != nil || err2 != nil || rows < 1 || cols < 1 || rows*cols != int64(len(data)/4) || len(data)%4 != 0 {
		return nil, fmt.Errorf("shape (%s, %s) with %d bytes of data", match[1], match[2], len(data))
	}
	m := make([][]float32, rows)
	for i := range m {
		m[i] = make([]float32, cols)
		for j := range m[i] {
			m[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(data))
			data = data[4:]
		}
	}
	return m, nil
}
