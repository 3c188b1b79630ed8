// Package testmodel gives tests the models that they run: the real checkpoint,
// as ./test prepares it, and tiny random ones, made on the spot.
//
// It shares no code with the packages under test that read what it writes.
package testmodel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leveret-os/leveret/internal/testenv"
)

// Env names the environment variable that holds the folder of the real
// checkpoint in its several forms.
const Env = "LEVERET_MODELS"

// Forms are the forms of the real checkpoint, SmolLM2-135M-Instruct, that
// ./test prepares: a GGUF file and four folders.
var Forms = []string{"smollm2.gguf", "f32", "bf16", "q8b32", "q4b32m"}

// Root returns the folder that holds the forms of the real checkpoint:
// $LEVERET_MODELS, or leveret/smollm2-135m-instruct in the user's cache folder.
func Root() string {
	if dir := os.Getenv(Env); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "leveret", "smollm2-135m-instruct")
}

// Dir returns the path of one form of the real checkpoint. Where it is absent
// the test is skipped, or fails when CI=true. In short mode the test is
// skipped: these models take seconds, and under an emulator many minutes.
func Dir(t testing.TB, form string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the real checkpoint: skipped in short mode")
	}
	path := filepath.Join(Root(), form)
	if _, err := os.Stat(path); err != nil {
		testenv.Absent(t, fmt.Errorf("real checkpoint: %w (./test prepares it; set %s to its folder)", err, Env))
	}
	return path
}

// Python returns the interpreter that has the packages of the independent
// readers (numpy, safetensors, tokenizers): $LEVERET_PYTHON, which ./test sets.
// Where there is none the test is skipped, or fails when CI=true. In short
// mode the test is skipped.
func Python(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Python: skipped in short mode")
	}
	python := os.Getenv("LEVERET_PYTHON")
	if python == "" {
		testenv.Absent(t, errors.New("LEVERET_PYTHON is not set (./test sets it)"))
	}
	return python
}
