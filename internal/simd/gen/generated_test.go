// Package gen_test checks that what the generators of this module write is what
// internal/simd has. Run it with: go -C internal/simd/gen test .
package gen_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestGenerated(t *testing.T) {
	for _, name := range []string{"blocks", "floats"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			asm, stubs := name+"_amd64.s", name+"_stubs_amd64.go"
			cmd := exec.Command("go", "run", "./"+name, "-out", filepath.Join(dir, asm), "-stubs", filepath.Join(dir, stubs), "-pkg", "simd")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, out)
			}
			for _, file := range []string{asm, stubs} {
				got, want := read(t, filepath.Join(dir, file)), read(t, filepath.Join("..", file))
				if !bytes.Equal(got, want) {
					t.Errorf("internal/simd/%s is not what ./%s writes: run go generate ./internal/simd", file, name)
				}
			}
		})
	}
}

// read returns a file without its first line, which tells the command that
// wrote it, paths included.
func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	return rest
}
