package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A library has the same weights in the forms of all engines.
type library struct {
	ours  string // folder of the forms that ./test prepares
	dir   string // folder of the converted ones
	infer string
	tools *toolbox

	refused map[string]error
}

// newLibrary returns the library of the checkpoint in models.
func newLibrary(models, infer string, tools *toolbox) (*library, error) {
	f, err := os.Open(filepath.Join(models, "f32", "model.safetensors"))
	if err != nil {
		return nil, fmt.Errorf("no checkpoint (./test setup fetches and converts it): %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	dir := filepath.Join(tools.dir, "models-"+hex.EncodeToString(h.Sum(nil))[:12])
	return &library{models, dir, infer, tools, map[string]error{}}, os.MkdirAll(dir, 0o755)
}

// path returns the file or folder of a form's source, which it makes if it is
// not there.
func (l *library) path(ctx context.Context, source string) (string, error) {
	if own := filepath.Join(l.ours, source); !strings.Contains(source, "/") {
		if _, err := os.Stat(own); err == nil {
			return own, nil
		}
	}
	if err, ok := l.refused[source]; ok {
		return "", err
	}
	to := filepath.Join(l.dir, filepath.FromSlash(source))
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	l.tools.say("converting to %s", source)
	// What is half made has another name.
	part := filepath.Join(filepath.Dir(to), "part-"+filepath.Base(to))
	err := errors.Join(os.RemoveAll(part), os.MkdirAll(filepath.Dir(to), 0o755))
	if err == nil {
		err = l.convert(ctx, source, part)
	}
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		if ctx.Err() == nil {
			l.refused[source] = err
		}
		return "", err
	}
	return to, nil
}

// convert makes a source from the float32 checkpoint.
func (l *library) convert(ctx context.Context, source, to string) error {
	from := filepath.Join(l.ours, "f32")
	kind, name, nested := strings.Cut(source, "/")
	if !nested {
		return l.tools.command(ctx, "convert", nil, l.infer, "quantize", "-q", source, "-m", from, "-o", to)
	}
	environment, program := kind, kind+"_convert.py"
	switch kind {
	case "gguf":
		environment, program = "llamacpp", "llamacpp_convert.py"
		name = strings.TrimSuffix(name, ".gguf")
	case "onnx":
		environment, program = "torch", "ortgenai_convert.py"
	case "ctranslate2":
		environment = "torch"
	case "openvino":
		gguf := published4
		if name != "Q4_1" {
			gguf = "gguf/" + name + ".gguf"
		}
		gguf, err := l.path(ctx, gguf)
		if err != nil {
			return err
		}
		from = gguf
	}
	python, err := l.tools.environment(ctx, environment)
	if err != nil {
		return err
	}
	err = l.tools.command(ctx, "convert", nil, python, filepath.Join(l.tools.peers, program), from, to, name)
	if err != nil {
		return fmt.Errorf("converting to %s: %w", source, err)
	}
	return nil
}
