package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/pkg/safetensors"
)

// mapped is the mode of a file that was to be mapped.
func mapped() safetensors.Memory {
	if canMap {
		return safetensors.Mapped
	}
	return safetensors.Private
}

// write writes a file into a folder and returns its path.
func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns a file.
func read(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
