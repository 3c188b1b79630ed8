package checkpoint

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/leveret-os/leveret/internal/ggml"
	"github.com/leveret-os/leveret/internal/testmodel"
)

// After Close nothing reads the memory that is gone, and Close waits for those
// who do.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	files := testmodel.TinyFS(testmodel.TinyOptions{})
	gguf := write(t, dir, "a.gguf", ggufOf(t, files, func(string) ggml.Type { return ggml.Q8_0 }).Bytes())
	folder := testmodel.Tiny(t, filepath.Join(dir, "folder"), testmodel.TinyOptions{})
	for _, path := range []string{gguf, folder} {
		open := func() *Checkpoint {
			c, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		use := func(c *Checkpoint) map[string]error {
			c.ChatTemplate()
			c.TokenizerConfig()
			c.Config()
			c.GenerationConfig()
			c.Names()
			c.Info()
			errs := map[string]error{}
			_, errs["Tensor"] = c.Tensor(embeddings)
			_, errs["Stat"] = c.Stat(embeddings)
			_, errs["Tokenizer"] = c.Tokenizer()
			_, errs["Digest"] = c.Digest()
			_, errs["Pin"] = c.Pin()
			_, errs["Convert"] = Convert(filepath.Join(t.TempDir(), "out"), c, nil)
			return errs
		}
		c := open()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for name, err := range use(c) {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %s after Close: %v, want ErrClosed", path, name, err)
			}
		}
		if c.ChatTemplate() != "" || c.TokenizerConfig() != nil {
			t.Errorf("%s: a template or a tokenizer_config.json after Close", path)
		}
		for range 4 {
			c := open()
			var err error
			var wg sync.WaitGroup
			wg.Go(func() {
				for name, err := range use(c) {
					if err != nil && !errors.Is(err, ErrClosed) {
						t.Errorf("%s: %s beside Close: %v", path, name, err)
					}
				}
			})
			wg.Go(func() { err = c.Close() })
			if wg.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
}
