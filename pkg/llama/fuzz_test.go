package llama

import (
	"bytes"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// FuzzRestore feeds damaged prefixes to Restore: an error and an empty session,
// or a session that goes on.
func FuzzRestore(f *testing.F) {
	m, err := Load(testmodel.TinyFS(testmodel.TinyOptions{Layers: 1, Hidden: 16, Intermediate: 16, Heads: 2, KVHeads: 1}), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { m.Close() })
	s := newSession(f, m, nil)
	appendAll(f, s, 5, 6)
	var saved bytes.Buffer
	if err := s.Save(&saved); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add(saved.Bytes()[:100])
	f.Add([]byte(prefixMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := s.Restore(bytes.NewReader(data))
		if err != nil && (s.Len() != 0 || s.Logits() != nil) {
			t.Errorf("after %v the session holds %d tokens", err, s.Len())
		}
		if err == nil {
			appendAll(t, s, 1)
		}
	})
}
