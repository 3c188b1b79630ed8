package native

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The peers' programs, and the Python packages that they need, with hashes.
//
//go:embed peers/*.py peers/*.c
var peersFS embed.FS

//go:embed requirements/*.txt
var requirementsFS embed.FS

// A toolbox is the folder in the user's cache with everything that the peers
// need: environments, programs, converted models.
type toolbox struct {
	dir     string // the folder
	peers   string // programs, below it
	python  string // the interpreter that makes environments
	say     func(format string, args ...any)
	ready   map[string]string // environments by name, made or found in this run
	refused map[string]error
}

// newToolbox lays the programs into dir.
func newToolbox(dir, python string, say func(string, ...any)) (*toolbox, error) {
	t := &toolbox{dir: dir, peers: filepath.Join(dir, "peers"), python: python, say: say, ready: map[string]string{}, refused: map[string]error{}}
	if err := os.MkdirAll(t.peers, 0o755); err != nil {
		return nil, err
	}
	return t, fs.WalkDir(peersFS, "peers", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := peersFS.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(t.peers, d.Name()), b, 0o644)
	})
}

// llamaFlags are what llama.cpp is built with: for this very processor.
const llamaFlags = "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF"

// environment returns the interpreter of a Python environment, which it makes
// if it is not there. An error is remembered: every engine that needs the
// environment gets it.
func (t *toolbox) environment(ctx context.Context, name string) (python string, err error) {
	if python, ok := t.ready[name]; ok {
		return python, nil
	}
	if err, ok := t.refused[name]; ok {
		return "", err
	}
	python, err = t.makeEnvironment(ctx, name)
	if err != nil {
		if ctx.Err() == nil {
			t.refused[name] = err
		}
		return "", err
	}
	t.ready[name] = python
	return python, nil
}

func (t *toolbox) makeEnvironment(ctx context.Context, name string) (string, error) {
	lists, hash, err := requirements(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(t.dir, name+"-"+hash)
	python := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return python, nil
	}
	if t.python == "" {
		return "", errors.New("no python3")
	}
	t.say("making the Python environment %s", name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := t.command(ctx, name, nil, t.python, "-m", "venv", dir); err != nil {
		return "", fmt.Errorf("python3 -m venv: %w", err)
	}
	for _, list := range lists {
		b, err := requirementsFS.ReadFile("requirements/" + list)
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, list)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return "", err
		}
		argv := []string{python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r", path}
		var env []string
		if name == "llamacpp" && list == "llamacpp.txt" {
			t.say("building llama.cpp for this processor, which takes minutes")
			argv = append(argv, "--no-build-isolation", "--no-cache-dir", "--no-binary", "llama-cpp-python")
			env = []string{"CMAKE_ARGS=" + llamaFlags, "PATH=" + filepath.Dir(python) + string(os.PathListSeparator) + os.Getenv("PATH")}
		}
		if err := t.command(ctx, name, env, argv...); err != nil {
			return "", fmt.Errorf("pip install -r %s: %w", list, err)
		}
	}
	return python, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}

// requirements returns an environment's lists of packages in the order to
// install them, and a hash of them.
func requirements(name string) (lists []string, hash string, err error) {
	h := sha256.New()
	for _, list := range []string{name + "-build.txt", name + ".txt"} {
		b, err := requirementsFS.ReadFile("requirements/" + list)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		h.Write(b)
		lists = append(lists, list)
	}
	if len(lists) == 0 {
		return nil, "", fmt.Errorf("no requirements of %s", name)
	}
	return lists, hex.EncodeToString(h.Sum(nil))[:12], nil
}

// command runs a command whose output goes to a log in the folder. The error
// has the last line of it.
func (t *toolbox) command(ctx context.Context, log string, env []string, argv ...string) error {
	file, err := os.OpenFile(filepath.Join(t.dir, log+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Fprintf(file, "$ %s\n", strings.Join(argv, " "))
	end := &tail{limit: 4 << 10}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(slices.Concat(os.Environ(), offline), env...)
	cmd.Dir = t.dir
	cmd.Stdout, cmd.Stderr = file, both{file, end}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if line := end.lastLine(); line != "" {
			return errors.New(line)
		}
		return err
	}
	return nil
}

// both writes to a log and keeps its end.
type both struct {
	file *os.File
	end  *tail
}

func (b both) Write(p []byte) (int, error) {
	b.end.Write(p)
	return b.file.Write(p)
}

// offline keeps the libraries of the Hugging Face hub from asking it.
var offline = []string{"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "HF_HUB_DISABLE_TELEMETRY=1", "OPENVINO_TELEMETRY=0"}
