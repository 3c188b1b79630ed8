package safetensors

import "fmt"

// Pinned is what [File.Pin] achieved.
type Pinned struct {
	// Pages and Bytes are what is locked in memory.
	Pages, Bytes int64
	// Wanted is what there was to lock, in bytes.
	Wanted int64
	// Reason says why Bytes is less than Wanted: [ErrPinLimit] with the
	// system's limit, [ErrNotMapped]. Nil when all is locked.
	Reason error
}

// Pin locks the data in memory (mlock(2)), which reads all of it, so that no
// token has to wait for the disk. Each file is locked as a whole or not at all.
// What the system refuses is left as it was and said in the result: the
// checkpoint can be used all the same. Close unlocks it. The only error is
// [ErrClosed].
func (f *File) Pin() (Pinned, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return Pinned{}, ErrClosed
	}
	var p Pinned
	for i := range f.shards {
		s := &f.shards[i]
		if s.size == 0 {
			continue
		}
		wanted := s.size
		if s.region != nil {
			wanted = int64(len(s.region.used))
		}
		p.Wanted += wanted
		err := ErrNotMapped
		var pages int64
		if s.region != nil {
			pages, err = s.region.pin()
		}
		if err != nil {
			if p.Reason == nil {
				p.Reason = fmt.Errorf("safetensors: pin %s: %w", quote(s.name), err)
			}
			continue
		}
		p.Pages += pages
		p.Bytes += wanted
	}
	return p, nil
}
