package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build makes a static program of the folder's Go package or C files.
func build(ctx context.Context, from, to string) error {
	sources, err := filepath.Glob(filepath.Join(from, "*.c"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", to, "./"+from)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if len(sources) > 0 {
		args := append([]string{"-O1", "-Wall", "-Wextra", "-static", "-pthread", "-o", to}, sources...)
		cmd = exec.CommandContext(ctx, "gcc", args...)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", from, err, text)
	}
	return nil
}

// runNatively runs the program in an empty folder and returns its output.
func runNatively(ctx context.Context, binary string) (string, error) {
	dir, err := os.MkdirTemp("", "leveret-conformance")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, binary)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("natively: %w\n%s%s", err, out, stderr.Bytes())
	}
	return string(out), nil
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
