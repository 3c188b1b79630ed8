package kernels

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/leveret-os/leveret/kernel/machine"
)

// built is what all runs share, built once, so that a change of the source
// meanwhile changes nothing.
type built struct {
	kernel, workload, infer string // files
}

// build builds our kernel and the programs into a folder.
func build(ctx context.Context, folder string, model bool) (built, error) {
	b := built{kernel: filepath.Join(folder, "kernel"), workload: filepath.Join(folder, "workload")}
	if err := machine.BuildTo(ctx, b.kernel); err != nil {
		return b, err
	}
	if err := goBuild(ctx, b.workload, "./bench/workload"); err != nil || !model {
		return b, err
	}
	b.infer = filepath.Join(folder, "infer")
	return b, goBuild(ctx, b.infer, "./cmd/infer")
}

func goBuild(ctx context.Context, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return nil
}
