package bpe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A stage is one pre-tokeniser. It cuts a piece and hands the parts on, in order,
// by encoder.piece(next, part). Parts may be empty; they end there.
type stage interface {
	cut(e *encoder, piece string, next int)
}

// isolate is the common split: matches and what lies between them, each a part.
type isolate struct{ scanner }

func (st isolate) cut(e *encoder, piece string, next int) {
	for i := 0; i < len(piece); {
		start, end := st.next(piece, i)
		e.piece(next, piece[i:start])
		e.piece(next, piece[start:end])
		i = end
	}
}

// cutGPT2 is isolate for the most common expression, without the indirect calls.
type cutGPT2 struct{ gpt2Scanner }

func (st cutGPT2) cut(e *encoder, piece string, next int) {
	for i := 0; i < len(piece); {
		_, end := st.gpt2Scanner.next(piece, i)
		e.piece(next, piece[i:end])
		i = end
	}
}

// split is the general one.
type split struct {
	scanner
	behavior Behavior
	invert   bool
}

// span is a part of a piece; match tells a delimiter from what lies between.
type span struct {
	start, end int
	match      bool
}

func (st split) cut(e *encoder, piece string, next int) {
	var spans []span
	for i := 0; i < len(piece); {
		start, end := st.next(piece, i)
		if start > i {
			spans = append(spans, span{i, start, st.invert})
		}
		if end > start {
			spans = append(spans, span{start, end, !st.invert})
		}
		i = end
	}
	for _, s := range st.behavior.apply(spans) {
		e.piece(next, piece[s.start:s.end])
	}
}

// apply turns matches and gaps, which alternate except that matches may be
// adjacent, into the parts that a behaviour leaves.
func (b Behavior) apply(spans []span) []span {
	switch b {
	case Removed:
		return slices.DeleteFunc(spans, func(s span) bool { return s.match })
	case Contiguous:
		out := spans[:0]
		for _, s := range spans {
			if k := len(out) - 1; k >= 0 && out[k].match == s.match {
				out[k].end = s.end
			} else {
				out = append(out, s)
			}
		}
		return out
	case MergedWithPrevious:
		out := spans[:0]
		previous := false
		for _, s := range spans {
			if k := len(out) - 1; k >= 0 && s.match && !previous {
				out[k].end = s.end
			} else {
				out = append(out, s)
			}
			previous = s.match
		}
		return out
	case MergedWithNext:
		out := make([]span, 0, len(spans))
		previous := false
		for _, s := range slices.Backward(spans) {
			if k := len(out) - 1; k >= 0 && s.match && !previous {
				out[k].start = s.start
			} else {
				out = append(out, s)
			}
			previous = s.match
		}
		slices.Reverse(out)
		return out
	}
	return spans // Isolated
}

// prefixSpace is ByteLevel's add_prefix_space.
type prefixSpace struct{}

func (prefixSpace) cut(e *encoder, piece string, next int) {
	if piece[0] != ' ' {
		piece = " " + piece
	}
	e.piece(next, piece)
}

// mapBytes spells the bytes of the piece in the byte alphabet. The last ByteLevel
// does not need it: the model then takes the bytes themselves.
type mapBytes struct{}

func (mapBytes) cut(e *encoder, piece string, next int) {
	e.piece(next, string(appendMapped(nil, piece)))
}

// metaspace is SentencePiece's way with spaces.
type metaspace struct {
	replacement string
	scheme      string
	split       bool
}

func (st metaspace) cut(e *encoder, piece string, next int) {
	piece = strings.ReplaceAll(piece, " ", st.replacement)
	if !strings.HasPrefix(piece, st.replacement) && (st.scheme == "always" || st.scheme == "first" && e.atStart) {
		piece = st.replacement + piece
	}
	e.atStart = false
	if !st.split {
		e.piece(next, piece)
		return
	}
	start := 0
	for i := 1; i < len(piece); {
		k := strings.Index(piece[i:], st.replacement)
		if k < 0 {
			break
		}
		e.piece(next, piece[start:i+k])
		start = i + k
		i = start + len(st.replacement)
	}
	e.piece(next, piece[start:])
}

// compilePreTokenizer lays the stages of a pre-tokeniser out in a row. byteLevel
// says that the last one is ByteLevel, so that the model is to map the bytes.
func compilePreTokenizer(p PreTokenizerConfig) (stages []stage, byteLevel bool, err error) {
	flat, err := flatten(nil, p, "pre_tokenizer", 0)
	if err != nil {
		return nil, false, err
	}
	growth := 1
	for i, f := range flat {
		last := i == len(flat)-1
		more, err := compileStage(f.config, f.place, last)
		if err != nil {
			return nil, false, err
		}
		if f.config.Type == "Metaspace" && i > 0 && f.config.PrependScheme == "first" {
			return nil, false, placed(ErrUnsupported, f.place, `Metaspace with prepend_scheme "first" behind another pre-tokeniser`)
		}
		if f.config.Type == "Metaspace" || f.config.Type == "ByteLevel" {
			growth *= 3 // a space becomes "▁", a byte two
		}
		if growth > maxGrowth {
			return nil, false, placed(ErrUnsupported, f.place, "text that grows by more than %d times", maxGrowth)
		}
		stages = append(stages, more...)
		byteLevel = last && f.config.Type == "ByteLevel"
	}
	return stages, byteLevel, nil
}

type placedPreTokenizer struct {
	config PreTokenizerConfig
	place  string
}

func flatten(dst []placedPreTokenizer, p PreTokenizerConfig, place string, depth int) ([]placedPreTokenizer, error) {
	if depth > maxDepth {
		return nil, placed(ErrSyntax, place, "nested more than %d levels deep", maxDepth)
	}
	switch p.Type {
	case "":
		return dst, nil
	case "Sequence":
		var err error
		for i, q := range p.PreTokenizers {
			if dst, err = flatten(dst, q, fmt.Sprintf("%s.pretokenizers[%d]", place, i), depth+1); err != nil {
				return nil, err
			}
		}
		return dst, nil
	}
	if len(dst) == maxStages {
		return nil, placed(ErrUnsupported, place, "more than %d pre-tokenisers", maxStages)
	}
	return append(dst, placedPreTokenizer{p, place}), nil
}

func compileStage(p PreTokenizerConfig, place string, last bool) ([]stage, error) {
	t := classes()
	switch p.Type {
	case "ByteLevel":
		var out []stage
		if p.AddPrefixSpace {
			out = append(out, prefixSpace{})
		}
		if p.UseRegex {
			out = append(out, cutGPT2{gpt2Scanner{t}})
		}
		if !last {
			out = append(out, mapBytes{})
		}
		return out, nil

	case "Digits":
		run := &runScanner{run: &charSet{t: t, mask: classNumeric}, min: 1, max: -1}
		if p.IndividualDigits {
			run.max = 1
		}
		run.run.freeze()
		return []stage{isolate{run}}, nil

	case "Punctuation":
		run := &runScanner{run: &charSet{t: t, mask: classPunct}, min: 1, max: 1}
		run.run.freeze()
		return behave(run, p.Behavior, false, place)

	case "Split":
		s, err := compilePattern(p.Pattern, place+".pattern")
		if err != nil {
			return nil, err
		}
		return behave(s, p.Behavior, p.Invert, place)

	case "Metaspace":
		if utf8.RuneCountInString(p.Replacement) != 1 {
			return nil, placed(ErrField, place+".replacement", "expected one character, found %q", clip(p.Replacement))
		}
		switch p.PrependScheme {
		case "always", "first", "never":
		default:
			return nil, placed(ErrUnsupported, place+".prepend_scheme", "%q", clip(p.PrependScheme))
		}
		return []stage{metaspace{p.Replacement, p.PrependScheme, p.Split}}, nil
	}
	return nil, placed(ErrUnsupported, place+".type", "the pre-tokeniser %q", clip(p.Type))
}

func behave(s scanner, b Behavior, invert bool, place string) ([]stage, error) {
	switch b {
	case Isolated:
		return []stage{isolate{s}}, nil // whatever invert is
	case Removed, MergedWithPrevious, MergedWithNext, Contiguous:
		return []stage{split{s, b, invert}}, nil
	}
	return nil, placed(ErrUnsupported, place+".behavior", "the behaviour %q", clip(string(b)))
}
