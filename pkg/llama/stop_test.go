package llama

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func mustStopper(t testing.TB, stops ...string) *stopper {
	t.Helper()
	s, err := newStopper(stops)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStopper(t *testing.T) {
	tests := []struct {
		name    string
		stops   []string
		pieces  []string
		want    []string // shown after each piece, then by flush
		stopped bool
	}{
		{"nothing of it is shown", []string{"\nUser:"}, []string{"Hi", "\nUser", ":", "x"}, []string{"Hi", "", "", "", ""}, true},
		{"held back, then shown", []string{"\nUser:"}, []string{"Hi\nUs", "age: 3"}, []string{"Hi", "\nUsage: 3", ""}, false},
		{"flushed at the end", []string{"\nUser:"}, []string{"Hi\nUser"}, []string{"Hi", "\nUser"}, false},
		{"in the middle of a piece", []string{"END"}, []string{"abENDcd"}, []string{"ab", ""}, true},
		{"no stop strings", nil, []string{"a", "b"}, []string{"a", "b", ""}, false},
		{"overlaps itself", []string{"aab"}, []string{"a", "a", "a", "b"}, []string{"", "", "a", "", ""}, true},
		{"overlaps itself further", []string{"ababc"}, []string{"abab", "abc"}, []string{"", "ab", ""}, true},
		{"common prefix, the shorter ends first", []string{"stop!", "stop"}, []string{"xsto", "p!"}, []string{"x", "", ""}, true},
		{"of those that end together, the longest", []string{"b", "ab"}, []string{"xa", "b"}, []string{"x", "", ""}, true},
		{"one in another's held text", []string{"abcd", "bx"}, []string{"ab", "x"}, []string{"", "a", ""}, true},
		{"falls back to the other", []string{"abcd", "bcx"}, []string{"abc", "x"}, []string{"", "a", ""}, true},
		{"whole characters", []string{"日本"}, []string{"日", "本語"}, []string{"", "", ""}, true},
		{"whole characters held, then shown", []string{"日本"}, []string{"a日", "曜"}, []string{"a", "日曜", ""}, false},
		{"common first byte", []string{"è"}, []string{"é", "è"}, []string{"é", "", ""}, true},
		{"empty pieces", []string{"ab"}, []string{"", "a", "", "b"}, []string{"", "", "", "", ""}, true},
		{"at once", []string{"x"}, []string{"x"}, []string{"", ""}, true},
	}
	for _, test := range tests {
		s := mustStopper(t, test.stops...)
		var got []string
		var stopped bool
		for _, piece := range test.pieces {
			var text string
			text, stopped = s.feed(piece)
			got = append(got, text)
		}
		got = append(got, s.flush())
		if diff := cmp.Diff(test.want, got); diff != "" || stopped != test.stopped {
			t.Errorf("%s: stopped %v, want %v; -want +got:\n%s", test.name, stopped, test.stopped, diff)
		}
	}
}

func TestStopperErrors(t *testing.T) {
	for _, stops := range [][]string{{""}, {"a", ""}, {"\xff"}, {strings.Repeat("x", maxStopBytes+1)}, make([]string, maxStops+1)} {
		if _, err := newStopper(stops); !errors.Is(err, ErrStop) {
			t.Errorf("%.20q: error %v, want ErrStop", stops, err)
		}
	}
}

// TestStopperLinear: a stop string that nearly matches everywhere.
func TestStopperLinear(t *testing.T) {
	s := mustStopper(t, strings.Repeat("a", maxStopBytes-1)+"b")
	text, stopped := s.feed(strings.Repeat("a", 1<<20))
	if stopped || len(text) != 1<<20-(maxStopBytes-1) {
		t.Errorf("%d bytes, stopped %v", len(text), stopped)
	}
}

// naiveStop looks through the whole text: what is shown so far, and whether a
// stop string is complete.
func naiveStop(text string, stops []string) (shown string, stopped bool) {
	for end := 1; end <= len(text); end++ {
		longest := 0
		for _, stop := range stops {
			if strings.HasSuffix(text[:end], stop) {
				longest = max(longest, len(stop))
			}
		}
		if longest > 0 {
			return text[:end-longest], true
		}
	}
	hold := 0
	for _, stop := range stops {
		for n := 1; n < len(stop); n++ {
			if strings.HasSuffix(text, stop[:n]) {
				hold = max(hold, n)
			}
		}
	}
	return text[:len(text)-hold], false
}

func FuzzStopper(f *testing.F) {
	f.Add("Hi\nUser: x", "\nUser:", "aab", uint64(0x21413))
	f.Add("aaabababc", "ababc", "ab", uint64(0x1111))
	f.Add("日本語日曜", "日曜", "語日本", uint64(0x3))
	f.Fuzz(func(t *testing.T, text, stop1, stop2 string, cuts uint64) {
		stops := []string{stop1, stop2}
		s, err := newStopper(stops)
		if err != nil || len(text) > 1000 || len(stop1)+len(stop2) > 1000 {
			return
		}
		fed, shown := "", ""
		for len(text) > 0 {
			n := min(int(cuts&7), len(text))
			if cuts >>= 3; cuts == 0 {
				n = len(text)
			}
			safe, stopped := s.feed(text[:n])
			fed, text, shown = fed+text[:n], text[n:], shown+safe
			want, wantStopped := naiveStop(fed, stops)
			if shown != want || stopped != wantStopped {
				t.Fatalf("after %q: shown %q stopped %v, want %q %v", fed, shown, stopped, want, wantStopped)
			}
			if utf8.ValidString(fed) && !utf8.ValidString(shown) {
				t.Fatalf("after %q: half a character in %q", fed, shown)
			}
		}
		rest := s.flush()
		if want, stopped := naiveStop(fed, stops); stopped && rest != "" || !stopped && shown+rest != fed {
			t.Fatalf("%q: flushed %q after %q", fed, rest, want)
		}
	})
}
