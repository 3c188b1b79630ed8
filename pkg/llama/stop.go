package llama

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrStop means a stop string that cannot be looked for.
var ErrStop = errors.New("llama: stop strings")

// Limits of stop strings; what is held back is shorter than the longest.
const (
	maxStops     = 64
	maxStopBytes = 4 << 10
)

// A stopper finds stop strings in a text that arrives in pieces. It passes on
// all text that cannot be part of a stop string, at once, and holds back what
// might begin one until it is known whether it does.
//
// The end is the stop string that is complete first; of several complete with
// the same byte, the longest. Nothing of it is passed on.
type stopper struct {
	stops []stopString
	held  []byte // a proper prefix of a stop string, the longest that the text ends with
	done  bool
}

// A stopString is matched byte by byte (Knuth, Morris and Pratt, "Fast Pattern
// Matching in Strings").
type stopString struct {
	text string
	// border[n] is the length of the longest proper prefix of text[:n] that it
	// also ends with.
	border  []int
	matched int // bytes of text that the text so far ends with
}

func newStopper(stops []string) (*stopper, error) {
	if len(stops) > maxStops {
		return nil, fmt.Errorf("%w: %d of them, at most %d", ErrStop, len(stops), maxStops)
	}
	s := &stopper{}
	for i, text := range stops {
		if text == "" {
			return nil, fmt.Errorf("%w: number %d is empty", ErrStop, i)
		}
		if len(text) > maxStopBytes {
			return nil, fmt.Errorf("%w: number %d has %d bytes, at most %d", ErrStop, i, len(text), maxStopBytes)
		}
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%w: number %d, %.40q, is not valid UTF-8", ErrStop, i, text)
		}
		p := stopString{text: text, border: make([]int, len(text)+1)}
		for n := 1; n < len(text); n++ {
			p.border[n+1] = p.next(p.border[n], text[n])
		}
		s.stops = append(s.stops, p)
	}
	return s, nil
}

// next returns how much is matched after one more byte, matched being less than
// the whole.
func (p *stopString) next(matched int, b byte) int {
	for p.text[matched] != b {
		if matched == 0 {
			return 0
		}
		matched = p.border[matched]
	}
	return matched + 1
}

// feed takes the next piece of text and returns what is safe to show. stopped
// reports that a stop string is complete; what follows it in text is dropped,
// and every later call returns nothing.
func (s *stopper) feed(text string) (safe string, stopped bool) {
	if s.done {
		return "", true
	}
	if len(s.stops) == 0 {
		return text, false
	}
	before := len(s.held) // bytes held before this piece
	for i := range len(text) {
		longest := 0
		for j := range s.stops {
			p := &s.stops[j]
			p.matched = p.next(p.matched, text[i])
			if p.matched == len(p.text) {
				longest = max(longest, p.matched)
			}
		}
		if longest > 0 {
			s.done = true
			safe = s.take(text, before+i+1-longest)
			s.held = s.held[:0]
			return safe, true
		}
	}
	hold := 0
	for j := range s.stops {
		hold = max(hold, s.stops[j].matched)
	}
	safe = s.take(text, before+len(text)-hold)
	// What is held now: the last hold bytes of what was held and text.
	if keep := hold - len(text); keep > 0 {
		s.held = append(s.held[:copy(s.held, s.held[before-keep:])], text...)
	} else {
		s.held = append(s.held[:0], text[len(text)-hold:]...)
	}
	return safe, false
}

// take returns the first n bytes of held and text together.
func (s *stopper) take(text string, n int) string {
	switch {
	case n <= len(s.held):
		return string(s.held[:n])
	case len(s.held) == 0:
		return text[:n]
	}
	return string(s.held) + text[:n-len(s.held)]
}

// flush returns what is held back, at the end of a text that did not stop.
func (s *stopper) flush() string {
	rest := string(s.held)
	s.held = s.held[:0]
	if s.done {
		return ""
	}
	for j := range s.stops {
		s.stops[j].matched = 0
	}
	return rest
}
