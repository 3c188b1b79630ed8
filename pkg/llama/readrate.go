package llama

import (
	"time"

	"github.com/leveret-os/leveret/internal/simd"
)

// ReadRate reads the weights that every token needs over and over for at least
// the given time, with the model's threads and instruction set and where they
// lie, and does nothing else with them. It returns the bytes read in a second,
// and how many bytes a token needs: all weights but an embedding that is not
// also the head, of which a token reads one row. Where caches hold little of
// them, one sequence cannot be decoded at more than perSecond/bytes tokens a
// second. Passes of sessions wait until it is done.
func (m *Model) ReadRate(atLeast time.Duration) (perSecond float64, bytes int64, err error) {
	if _, err := m.scheduler.acquire(); err != nil {
		return 0, 0, err
	}
	defer m.scheduler.release()
	isa, err := simd.ParseISA(m.info.ISA)
	if err != nil {
		return 0, 0, err
	}
	var data [][]byte
	for _, name := range m.ck.Names() {
		if tied := m.config.TieWordEmbeddings; !tied && name == "model.embed_tokens.weight" || tied && name == "lm_head.weight" {
			continue
		}
		t, err := m.ck.Tensor(name)
		if err != nil {
			return 0, 0, err
		}
		data = append(data, t.Data)
		bytes += int64(len(t.Data))
	}
	return simd.New(isa).ReadRate(data, m.info.Threads, atLeast), bytes, nil
}
