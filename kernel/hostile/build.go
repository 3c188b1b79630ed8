package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// folder is where the program's source is, from the root of the module.
const folder = "kernel/hostile/program"

// build compiles the program, which has no library below it.
func build(ctx context.Context, dir string) (string, error) {
	sources, err := filepath.Glob(filepath.Join(folder, "*.c"))
	if err != nil || len(sources) == 0 {
		return "", fmt.Errorf("no program in %s: run this from the root of the module", folder)
	}
	out := filepath.Join(dir, "hostile")
	args := append([]string{
		"-O1", "-g", "-static", "-nostdlib", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fno-omit-frame-pointer",
		"-fcf-protection=none", "-fno-strict-aliasing", "-mno-red-zone", "-fno-pie", "-no-pie", "-o", out,
	}, sources...)
	if text, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, text)
	}
	return out, nil
}

func arguments(seed, calls uint64, workers int, trace bool) []string {
	args := []string{strconv.FormatUint(seed, 10), strconv.FormatUint(calls, 10), strconv.Itoa(workers)}
	if trace {
		args = append(args, "trace")
	}
	return args
}
