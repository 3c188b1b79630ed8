package llama

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// A context that no memory holds is an error, however it comes about.
func TestContextBeyondMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reserves terabytes: an emulator keeps a record of every page of them")
	}
	for _, o := range []testmodel.TinyOptions{
		{Context: 1 << 30}, // keys and values of 512 GiB
		{Context: 1 << 30, Layers: 1, KVHeads: 1, HeadDim: 2, Heads: 4096}, // scores of 16 TiB a thread
		{RopeScaling: map[string]any{"type": "linear", "factor": 1e6}},     // by way of the scaling
	} {
		m := tiny(t, o)
		s, err := m.NewSession(nil)
		if err != nil {
			if !errors.Is(err, ErrMemory) {
				t.Errorf("%+v: error %v, want ErrMemory", o, err)
			}
			continue
		}
		appendAll(t, s, 5, 6, 7) // it was only reserved
		s.Close()
	}
	for _, c := range []Config{
		{NumHiddenLayers: maxLayers, NumKeyValueHeads: maxHeads, HeadDim: maxHeadDim},
		{NumHiddenLayers: 300, NumKeyValueHeads: 8, HeadDim: 64}, // 1.2 PiB
	} {
		if _, err := newKVCache(&c, maxPositions); !errors.Is(err, ErrMemory) {
			t.Errorf("%+v: error %v, want ErrMemory", c, err)
		}
	}
}

// The cache takes memory for positions that were stored, in the tenth session
// as in the first.
func TestSessionsTakeMemoryAsTokensCome(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc/self/statm")
	}
	resident := func() int {
		b, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.Fields(string(b))[1])
		if err != nil {
			t.Fatal(err)
		}
		return n * os.Getpagesize()
	}
	m := tiny(t, testmodel.TinyOptions{Context: 1 << 16}) // caches of 32 MiB
	before := resident()
	for range 20 {
		s, err := m.NewSession(nil)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, s, 5, 6, 7)
		s.Close()
		runtime.GC()
	}
	if grown := resident() - before; grown > 16<<20 {
		t.Errorf("sessions of three tokens took %d bytes", grown)
	}
}

// A session that is dropped without Close is freed when it is garbage.
func TestDroppedSessionIsFreed(t *testing.T) {
	m := tiny(t, testmodel.TinyOptions{})
	freed := make(chan bool)
	func() {
		s, err := m.NewSession(nil)
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(s.kv, func(c chan bool) { close(c) }, freed)
		appendAll(t, s, make([]int, 100)...)
	}()
	appendAll(t, newSession(t, m, nil), 5) // a later batch is shorter
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the cache of a dropped session is still there")
}
