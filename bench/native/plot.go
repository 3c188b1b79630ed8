package native

import (
	"context"
	"path/filepath"
)

// plot draws the figures of a CSV file as an SVG, by matplotlib.
func (t *toolbox) plot(ctx context.Context, csv, svg string) error {
	python, err := t.environment(ctx, "plot")
	if err != nil {
		return err
	}
	return t.command(ctx, "plot", nil, python, filepath.Join(t.peers, "plot.py"), csv, svg)
}
