package llama

import (
	"errors"
	"testing"
	"time"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// A token reads all weights, but of an embedding that is not the head, one row.
func TestReadRate(t *testing.T) {
	for _, untied := range []bool{false, true} {
		m := tiny(t, testmodel.TinyOptions{Untied: untied})
		rate, bytes, err := m.ReadRate(time.Millisecond)
		if err != nil || !(rate > 0) {
			t.Fatalf("%v bytes a second, error %v", rate, err)
		}
		want := int64(0)
		for _, name := range m.ck.Names() {
			tensor, err := m.ck.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			if name != "model.embed_tokens.weight" || !untied {
				want += int64(len(tensor.Data))
			}
		}
		if bytes != want || untied == (bytes == m.Info().Bytes) {
			t.Errorf("untied %v: %d bytes a token, want %d of %d", untied, bytes, want, m.Info().Bytes)
		}
		m.Close()
		if _, _, err := m.ReadRate(time.Millisecond); !errors.Is(err, ErrClosed) {
			t.Errorf("of a closed model: %v", err)
		}
	}
}
