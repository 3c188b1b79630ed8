package bpe

import (
	"slices"
	"unicode/utf8"
)

// maxContent bounds the length of an added token in bytes. Finding the longest
// match costs at most this much at each place of the text.
const maxContent = 1024

// maxAdded bounds the length of all added tokens together.
const maxAdded = 1 << 22

// addedVocab holds the added tokens and finds them in text.
type addedVocab struct {
	tokens     []AddedToken    // by id
	byID       map[int]int     // id → index in tokens
	byContent  map[string]int  // content → id
	decoded    []string        // what the decoder gets for each of tokens
	specials   map[string]bool // contents of the special tokens
	raw        matcher         // tokens matched in the text as written
	normalized matcher         // tokens matched in the normalised text
}

// newAddedVocab resolves the ids of tokens and prepares the matchers.
func newAddedVocab(tokens []AddedToken, v *vocab, normalize normalizer, place string) (*addedVocab, error) {
	a := &addedVocab{byID: map[int]int{}, byContent: map[string]int{}, specials: map[string]bool{}}
	total := 0
	for i, tok := range tokens {
		where := func() string { return placeIndex(place, i) }
		if tok.Content == "" {
			continue // as in tokenizers: it could match nowhere
		}
		if len(tok.Content) > maxContent {
			return nil, placed(ErrAddedToken, where(), "the content is %d bytes long, at most %d are allowed", len(tok.Content), maxContent)
		}
		if total += len(tok.Content); total > maxAdded {
			return nil, placed(ErrAddedToken, where(), "the added tokens have more than %d bytes", maxAdded)
		}
		if !utf8.ValidString(tok.Content) {
			return nil, placed(ErrAddedToken, where(), "the content %q is not UTF-8", tok.Content)
		}
		if id := v.id([]byte(tok.Content)); id >= 0 {
			tok.ID = int(id)
		} else if id, ok := a.byContent[tok.Content]; ok {
			tok.ID = id
		} else if tok.ID < 0 || tok.ID >= maxSparse+maxHoles*(len(v.ids)+len(tokens)) {
			return nil, placed(ErrAddedToken, where(), "the id %d of %q is out of range", tok.ID, tok.Content)
		} else if other, ok := v.content(tok.ID); ok {
			return nil, placed(ErrAddedToken, where(), "%q has the id %d, which is the vocabulary's %q", tok.Content, tok.ID, clip(other))
		}
		if k, ok := a.byID[tok.ID]; ok {
			if a.tokens[k].Content != tok.Content {
				return nil, placed(ErrAddedToken, where(), "%q and %q both have the id %d", a.tokens[k].Content, tok.Content, tok.ID)
			}
			a.tokens[k] = tok // the later flags count, as in tokenizers
		} else {
			a.byID[tok.ID] = len(a.tokens)
			a.byContent[tok.Content] = tok.ID
			a.tokens = append(a.tokens, tok)
		}
		if tok.Special {
			a.specials[tok.Content] = true
		}
	}
	slices.SortFunc(a.tokens, func(x, y AddedToken) int { return x.ID - y.ID })
	a.decoded = make([]string, len(a.tokens))
	a.raw.t, a.normalized.t = classes(), classes()
	for i, tok := range a.tokens {
		a.byID[tok.ID] = i
		a.decoded[i] = tok.Content
		special := a.specials[tok.Content]
		if !tok.Normalized {
			a.raw.add(tok.Content, tok, special)
			continue
		}
		if normalize != nil {
			a.decoded[i] = normalize(tok.Content)
			if total += len(a.decoded[i]); total > 2*maxAdded || len(a.decoded[i]) > 4*maxContent {
				return nil, placed(ErrAddedToken, place, "%q becomes %d bytes when normalised", tok.Content, len(a.decoded[i]))
			}
		}
		a.normalized.add(a.decoded[i], tok, special)
	}
	return a, nil
}

// matcher finds tokens in text: from left to right, the longest where several
// begin at one place. It is a trie over bytes.
type matcher struct {
	t          *classTable
	nodes      []trieNode // nodes[0] is the root; empty: nothing to match
	tokens     []AddedToken
	special    []bool
	allSpecial bool
	first      [256]bool
}

type trieNode struct {
	token int32  // index in tokens plus one, 0: none ends here
	keys  []byte // in order
	next  []int32
}

func (m *matcher) add(pattern string, tok AddedToken, special bool) {
	if pattern == "" {
		return
	}
	if m.nodes == nil {
		m.nodes = []trieNode{{}}
		m.allSpecial = true
	}
	m.allSpecial = m.allSpecial && special
	m.first[pattern[0]] = true
	at := int32(0)
	for i := range len(pattern) {
		k, ok := slices.BinarySearch(m.nodes[at].keys, pattern[i])
		if !ok {
			n := &m.nodes[at]
			n.keys = slices.Insert(n.keys, k, pattern[i])
			n.next = slices.Insert(n.next, k, int32(len(m.nodes)))
			m.nodes = append(m.nodes, trieNode{})
		}
		at = m.nodes[at].next[k]
	}
	if m.nodes[at].token == 0 {
		m.tokens = append(m.tokens, tok)
		m.special = append(m.special, special)
		m.nodes[at].token = int32(len(m.tokens))
	}
}

// longest returns the index of the longest token that begins at text[i:] and its
// end, or -1.
func (m *matcher) longest(text string, i int) (token, end int) {
	token = -1
	at := int32(0)
	for i < len(text) {
		n := &m.nodes[at]
		k, ok := slices.BinarySearch(n.keys, text[i])
		if !ok {
			break
		}
		at = n.next[k]
		i++
		if t := m.nodes[at].token; t != 0 {
			token, end = int(t)-1, i
		}
	}
	return token, end
}

// useless reports whether cut would leave every text whole.
func (m *matcher) useless(parseSpecial bool) bool {
	return m.nodes == nil || m.allSpecial && !parseSpecial
}

// cut calls token for each match in text and rest for what lies between, in
// order. A token that may not match where it stands (a special one without
// parseSpecial, a single word inside another) still hides those that overlap it.
// White space that a match took by RStrip may be part of the next match too; what
// follows then begins behind the later one. All this is as in tokenizers.
func (m *matcher) cut(text string, parseSpecial bool, token func(id int), rest func(start, end int)) {
	done, spaceEnd := 0, 0
	for i := 0; i < len(text); {
		if !m.first[text[i]] {
			i++
			continue
		}
		k, end := m.longest(text, i)
		if k < 0 {
			i++
			continue
		}
		start, stop := i, end
		i = end
		tok := &m.tokens[k]
		if m.special[k] && !parseSpecial {
			continue
		}
		if tok.SingleWord && (start > 0 && m.t.before(text, start)&classWord != 0 || m.wordAt(text, stop)) {
			continue
		}
		if tok.LStrip {
			for start > done && m.t.before(text, start)&classSpace != 0 {
				_, n := utf8.DecodeLastRuneInString(text[:start])
				start -= n
			}
			start = max(start, done)
		}
		if tok.RStrip {
			// Within white space that was taken before, its end is known.
			if stop >= spaceEnd {
				spaceEnd = m.t.while(text, stop, classSpace)
			}
			stop = spaceEnd
		}
		if start >= stop {
			continue // all of it was the white space that the last match took
		}
		if done < start {
			rest(done, start)
		}
		token(tok.ID)
		done = stop
	}
	if done < len(text) {
		rest(done, len(text))
	}
}

func (m *matcher) wordAt(text string, i int) bool {
	c, _ := m.t.at(text, i)
	return c&classWord != 0
}
