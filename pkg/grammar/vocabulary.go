package grammar

import (
	"fmt"
	"math"
	"slices"
)

// A Vocabulary is what masks need to know of a tokenizer: the bytes of each
// token, and what follows from them for every grammar. It is made once, and may
// be shared by all grammars and goroutines.
type Vocabulary struct {
	size   int
	eos    []int
	text   []byte
	offset []uint32 // of token i's bytes in text
	trie   *trie
	inside [subCount]insideTokens
	closes [subCount]closingTokens
	plains []plainTokens
	long   int // bytes of the longest token
}

// insideTokens are the tokens that stay inside a free string, from one sub on.
type insideTokens struct {
	all  []uint64 // bit set; nil: none
	most int      // characters of the longest, one that is cut at its end included
	// upTo[n] are those of at most n characters, for subWhole; longer has the
	// others by their number of characters.
	upTo   [][]uint64
	longer []closer
}

// closingTokens are the tokens that end a free string, from one sub on.
type closingTokens struct {
	list []closer
	trie *trie // of what follows the closing quote
}

// A closer is a token that ends a string.
type closer struct {
	token int32
	chars int32 // characters before the quote
	quote int32 // offset of the quote
	node  int32 // in the trie of what follows
}

// charSteps is up to how many characters tokens are kept as bit sets.
const charSteps = 24

// maxVocabulary bounds the number of tokens.
const maxVocabulary = 1 << 24

// NewVocabulary makes a vocabulary of the tokens 0 to n-1. bytes returns the raw
// bytes of a token's text; a token without any is never legal: return nil for
// control tokens, such as <|im_start|>. eos are the tokens that end a text; they
// are legal at the end and only there, and their bytes count for nothing. There
// may be none. The memory is about 3 MB for 50,000 tokens.
func NewVocabulary(n int, bytes func(id int) []byte, eos []int) (*Vocabulary, error) {
	if n < 1 || n > maxVocabulary {
		return nil, fmt.Errorf("%w: %d tokens, expected 1 to %d", ErrVocabulary, n, maxVocabulary)
	}
	v := &Vocabulary{size: n, eos: slices.Clone(eos), offset: make([]uint32, 1, n+1)}
	slices.Sort(v.eos)
	v.eos = slices.Compact(v.eos)
	for _, id := range v.eos {
		if id < 0 || id >= n {
			return nil, fmt.Errorf("%w: end-of-sequence token %d, expected 0 to %d", ErrVocabulary, id, n-1)
		}
	}
	for id := range n {
		if _, end := slices.BinarySearch(v.eos, id); !end {
			t := bytes(id)
			if len(v.text) > math.MaxInt32-len(t) {
				return nil, fmt.Errorf("%w: the tokens have 2^31 bytes or more", ErrVocabulary)
			}
			v.text = append(v.text, t...)
			v.long = max(v.long, len(t))
		}
		v.offset = append(v.offset, uint32(len(v.text)))
	}
	if len(v.text) == 0 {
		return nil, fmt.Errorf("%w: no token has bytes", ErrVocabulary)
	}
	v.trie = newTrie(n, func(i int32) []byte {
		if t := v.bytes(i); len(t) > 0 {
			return t
		}
		return nil
	})
	for s := range sub(subCount) {
		v.classify(s)
	}
	for _, set := range plainSets {
		v.plains = append(v.plains, v.plain(set))
	}
	return v, nil
}

// Size returns the number of tokens.
func (v *Vocabulary) Size() int { return v.size }

func (v *Vocabulary) bytes(id int32) []byte { return v.text[v.offset[id]:v.offset[id+1]] }

func (v *Vocabulary) words() int { return (v.size + 63) / 64 }

// set returns tokens as a bit set.
func (v *Vocabulary) set(ids []int32) []uint64 {
	bits := make([]uint64, v.words())
	for _, id := range ids {
		setBit(bits, id)
	}
	return bits
}

func setBit(bits []uint64, id int32) { bits[id/64] |= 1 << (id % 64) }

// classify finds what the tokens do in a free string from one sub on.
func (v *Vocabulary) classify(start sub) {
	in, out := &v.inside[start], &v.closes[start]
	type state struct {
		sub    sub
		chars  int32
		closed int32 // offset of the quote, or -1
	}
	stack := make([]state, 1, v.long+1)
	stack[0] = state{start, 0, -1}
	depths := make([]int32, 1, v.long+1) // ends of the nodes on the stack
	depths[0] = int32(len(v.trie.label))
	var inside []closer
	for node := int32(1); node < int32(len(v.trie.label)); {
		for depths[len(depths)-1] <= node {
			depths = depths[:len(depths)-1]
			stack = stack[:len(stack)-1]
		}
		s := stack[len(stack)-1]
		if s.closed < 0 {
			switch to := subNext[s.sub][v.trie.label[node]]; to {
			case subNone:
				node = v.trie.end[node]
				continue
			case subClose:
				s.closed = int32(len(stack) - 1)
			default:
				s.sub = to
				if to == subWhole {
					s.chars++
				}
			}
		}
		for id := v.trie.item[node]; id >= 0; id = v.trie.same[id] {
			if s.closed >= 0 {
				out.list = append(out.list, closer{token: id, chars: s.chars, quote: s.closed})
				continue
			}
			chars := s.chars
			if s.sub != subWhole {
				chars++
			}
			inside = append(inside, closer{token: id, chars: chars})
		}
		stack = append(stack, s)
		depths = append(depths, v.trie.end[node])
		node++
	}
	if len(inside) > 0 {
		in.all = make([]uint64, v.words())
		for _, c := range inside {
			setBit(in.all, c.token)
			in.most = max(in.most, int(c.chars))
		}
	}
	if start == subWhole {
		for n := range min(charSteps, in.most) {
			bits := make([]uint64, v.words())
			for _, c := range inside {
				if int(c.chars) <= n {
					setBit(bits, c.token)
				}
			}
			in.upTo = append(in.upTo, bits)
		}
		for _, c := range inside {
			if int(c.chars) >= len(in.upTo) {
				in.longer = append(in.longer, c)
			}
		}
	}
	out.trie = newTrie(len(out.list), func(i int32) []byte {
		c := out.list[i]
		t := v.bytes(c.token)
		return t[c.quote+1 : len(t) : len(t)]
	})
	for node, first := range out.trie.item {
		for i := first; i >= 0; i = out.trie.same[i] {
			out.list[i].node = int32(node)
		}
	}
}
