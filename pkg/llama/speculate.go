package llama

import "strings"

// Speculation by prompt lookup (Saxena, "Prompt Lookup Decoding"; the idea of
// verifying a draft in one pass is that of Leviathan et al., "Fast Inference from
// Transformers via Speculative Decoding"): where the last tokens have occurred
// before, what followed then is likely to follow again. A draft of it is computed
// in the same pass as the last token, and each of its tokens that is then picked
// saves a pass. Picking goes on as without: from logits that have the same bits.
const (
	// defaultDraft is the most tokens of a draft unless GenerateOptions says so.
	defaultDraft = 16
	// maxDraft bounds GenerateOptions.DraftMax.
	maxDraft = 64
	// leastMatch is how many of the last tokens must have occurred before, and
	// mostMatch is how many are compared at most. Two match by chance too often.
	leastMatch, mostMatch = 3, 16
	// firstDraft is the length of the first draft.
	firstDraft = 4
)

// What speculation may cost, in passes of one token: startBudget at once, and
// perToken for every token generated, so that text that repeats nothing is
// slower by 1 % and one pass at most. No more than mostBudget is kept of what
// good drafts have earned.
const (
	startBudget = 1.0
	perToken    = 0.01
	mostBudget  = 4.0
)

// draftPrice is what a token more in a pass costs, in passes of one token, where
// the weights come from memory: measured by BenchmarkRows, rounded up. 1 and
// more means that drafts cannot pay.
func draftPrice(isa, format string) float64 {
	kind := 0 // floats
	switch {
	case strings.HasPrefix(format, "q8"):
		kind = 1
	case strings.HasPrefix(format, "q4"):
		kind = 2
	}
	switch isa {
	case "avx512":
		return [...]float64{0.15, 0.15, 0.25}[kind]
	case "avx2":
		return [...]float64{0.4, 0.4, 0.55}[kind]
	}
	return 1 // portable code multiplies no faster than it decodes
}

// A drafter decides how many tokens to draft, and looks them up. What it decides
// depends on the tokens and on how many of its drafts were right, never on a
// clock; and, where sessions are computed together, on how many.
type drafter struct {
	most   int     // tokens of a draft; 0 is no speculation
	price  float64 // draftPrice
	budget float64 // in passes
	length int     // of the next draft

	drafted  int // tokens of the last draft
	accepted int // DraftStats.Accepted when it was made
	tokens   [maxDraft]int
}

func newDrafter(most int, price float64) drafter {
	switch {
	case most == 0:
		most = defaultDraft
	case most < 0:
		most = 0
	}
	if price >= 1 {
		most = 0
	}
	return drafter{most: most, price: price, budget: startBudget, length: firstDraft}
}

// settle books the token that came since, and how many of the last draft did.
func (d *drafter) settle(accepted int) {
	came := min(accepted-d.accepted, d.drafted)
	d.budget = min(mostBudget, d.budget+float64(came)+perToken*float64(1+came))
	switch {
	case d.drafted == 0:
	case came == d.drafted:
		d.length = 2 * d.drafted
	default:
		d.length = max(1, (came+d.drafted)/2)
	}
	d.drafted, d.accepted = 0, accepted
}

// draft returns tokens that may follow, at most room of them, valid until the
// next draft. sessions is how many the last pass was shared by, and accepted
// counts all tokens of drafts that came so far.
func (d *drafter) draft(tokens []int, room, sessions, accepted int) []int {
	if d.most == 0 {
		return nil
	}
	d.settle(accepted)
	// Among n sessions a pass costs 1 + (n−1)·price, of which each saves its share.
	n := float64(max(1, sessions))
	price := d.price * n / (1 + (n-1)*d.price)
	length := min(d.length, d.most, room, int(d.budget/price))
	if length < 1 {
		return nil
	}
	at := lookup(tokens)
	if at < 0 {
		return nil
	}
	d.drafted = length
	d.budget -= price * float64(length)
	// What follows may run into the draft itself, where the text has a period.
	for i := range length {
		if j := at + i; j < len(tokens) {
			d.tokens[i] = tokens[j]
		} else {
			d.tokens[i] = d.tokens[j-len(tokens)]
		}
	}
	return d.tokens[:length]
}

// lookup returns where in tokens that stands which may follow at their end: after
// the longest earlier occurrence of the last tokens, the latest among equal ones;
// −1 if fewer than leastMatch occur. It takes time proportional to the tokens,
// some nanoseconds each, which is little against computing one of them.
func lookup(tokens []int) (at int) {
	n := len(tokens)
	best := leastMatch - 1
	at = -1
	for i := n - 2; i >= best && best < mostMatch; i-- {
		if tokens[i] != tokens[n-1] {
			continue
		}
		m := 1
		for m < mostMatch && m <= i && tokens[i-m] == tokens[n-1-m] {
			m++
		}
		if m > best {
			best, at = m, i+1
		}
	}
	return at
}
