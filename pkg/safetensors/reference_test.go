package safetensors

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// reference runs testdata/reference.py, which asks the safetensors package for
// Python, with lines on its standard input; it returns the lines of its output.
func reference(t *testing.T, command string, lines []string) [][]byte {
	t.Helper()
	cmd := exec.Command(testmodel.Python(t), "testdata/reference.py", command)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reference.py: %v\n%s", err, stderr.Bytes())
	}
	var answers [][]byte
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		answers = append(answers, bytes.Clone(scan.Bytes()))
	}
	return answers
}

// flat is a file's tensors as reference.py gives them.
type flat map[string][3]any

func flatten(t *testing.T, f *File) flat {
	all := make(flat)
	for name, tensor := range tensors(t, f) {
		shape := []any{}
		for _, dim := range tensor.Shape {
			shape = append(shape, float64(dim))
		}
		all[name] = [3]any{tensor.DType.String(), shape, hex.EncodeToString(tensor.Data)}
	}
	return all
}

// The reference reads what we write.
func TestReferenceReadsOurs(t *testing.T) {
	var everything []Source
	for d := BOOL; d <= U64; d++ {
		for _, shape := range [][]uint64{{}, {0}, {2, 4}, {3, 0, 1 << 40}, {8}} {
			size, err := d.Bytes(shape)
			if errors.Is(err, ErrPartialByte) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			everything = append(everything, Source{
				Name: d.String() + shapeString(shape), DType: d, Shape: shape, Data: bytesUpTo(int(size)),
			})
		}
	}
	var lines []string
	var want []flat
	for _, sources := range [][]Source{nil, everything, mixture(), {{Name: "\"\\\x00\x1f\u2028😀", DType: U8, Shape: []uint64{0}}}} {
		for _, metadata := range []map[string]string{nil, {}, {"a\n": "\"é"}} {
			for _, opts := range []*WriteOptions{nil, {KeepOrder: true}} {
				var b bytes.Buffer
				if err := Encode(&b, sources, metadata, opts); err != nil {
					t.Fatal(err)
				}
				f, err := Parse(b.Bytes(), nil)
				if err != nil {
					t.Fatal(err)
				}
				checkSame(t, f, sources)
				lines = append(lines, hex.EncodeToString(b.Bytes()))
				want = append(want, flatten(t, f))
			}
		}
	}
	answers := reference(t, "read", lines)
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d files", len(answers), len(lines))
	}
	for i, answer := range answers {
		var got flat
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("file %d: %s", i, diff)
		}
	}
}

// We read what the reference writes.
func TestWeReadReference(t *testing.T) {
	answers := reference(t, "write", nil)
	if len(answers) < 4 {
		t.Fatalf("%d files", len(answers))
	}
	for i, answer := range answers {
		var file struct {
			File    string
			Tensors flat
		}
		if err := json.Unmarshal(answer, &file); err != nil {
			t.Fatal(err)
		}
		data, err := hex.DecodeString(file.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range openers {
			f, err := o.open(t, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(file.Tensors, flatten(t, f)); diff != "" {
				t.Errorf("file %d, %s: %s", i, o.name, diff)
			}
		}
	}
}

// Damaged files: what we accept the reference accepts, with the same tensors;
// what it alone accepts we refuse for a reason that the format's text gives.
func TestReferenceAgreesOnDamage(t *testing.T) {
	const files = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	seeds := headerSeeds()
	var lines []string
	for range files {
		lines = append(lines, hex.EncodeToString(damage(rng, seeds[rng.IntN(len(seeds))])))
	}
	answers := reference(t, "read", lines)
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d files", len(answers), len(lines))
	}
	both, stricter := 0, 0
	for i, answer := range answers {
		data, err := hex.DecodeString(lines[i])
		if err != nil {
			t.Fatal(err)
		}
		var want flat
		if err := json.Unmarshal(answer, &want); err != nil {
			t.Fatal(err)
		}
		f, err := Parse(data, nil)
		switch {
		case err == nil && want == nil:
			t.Errorf("we alone accept %q", data)
		case err == nil:
			both++
			if diff := cmp.Diff(want, flatten(t, f)); diff != "" {
				t.Errorf("%q: %s", data, diff)
			}
		case want != nil:
			stricter++
			// The reference reads equal keys, white space before the object,
			// and a description as an array.
			if !errors.Is(err, ErrDuplicateKey) && !strings.Contains(err.Error(), "want '{'") {
				t.Errorf("the reference alone accepts %q: %v", data, err)
			}
		}
	}
	t.Logf("%d files: both accept %d, the reference alone %d", files, both, stricter)
	if both == 0 || stricter == 0 {
		t.Error("the damage tells nothing")
	}
}
