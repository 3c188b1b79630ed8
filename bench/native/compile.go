package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// compile returns the binary of an engine's program in C, which it builds if it
// is not there. Programs of an environment are linked with its libraries.
func (t *toolbox) compile(ctx context.Context, e *engine) (string, error) {
	if err, ok := t.refused[e.program]; ok {
		return "", err
	}
	source, err := peersFS.ReadFile("peers/" + e.program)
	if err != nil {
		return "", err
	}
	argv := []string{"-O3", "-march=native", "-pthread", filepath.Join(t.peers, e.program), "-lm"}
	if e.shared {
		argv = append(argv, "-shared", "-fPIC")
	}
	hash := sha256.Sum256(source)
	name := e.program + "-" + hex.EncodeToString(hash[:6])
	if e.environment != "" {
		python, err := t.environment(ctx, e.environment)
		if err != nil {
			return "", err
		}
		root := filepath.Dir(filepath.Dir(python))
		name = filepath.Base(root) + "-" + name
		found, err := filepath.Glob(filepath.Join(root, "lib", "python3*", "site-packages"))
		if err != nil || len(found) != 1 {
			return "", fmt.Errorf("%s has no site-packages", root)
		}
		include, libraries := filepath.Join(found[0], "include"), filepath.Join(found[0], "llama_cpp", "lib")
		argv = append(argv, "-I"+include, "-L"+libraries, "-Wl,-rpath,"+libraries, "-Wl,--allow-shlib-undefined", "-lllama", "-lggml", "-lggml-base")
	}
	binary := filepath.Join(t.dir, name)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := t.command(ctx, "compile", nil, append([]string{"cc", "-o", binary}, argv...)...); err != nil {
		err = fmt.Errorf("compiling %s: %w", e.program, err)
		if ctx.Err() == nil {
			t.refused[e.program] = err
		}
		return "", err
	}
	return binary, nil
}
