package bpe

import "strings"

// The regular expressions of well-known tokenizers, as their tokenizer.json
// files spell them.
const (
	// RegexGPT2 is the expression of GPT-2, Falcon, MPT, StarCoder and others. The
	// ByteLevel pre-tokeniser applies it by itself.
	RegexGPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	// RegexLlama3 is the expression of Llama 3, DBRX, GLM-4, OLMo 2 and others: GPT-4's.
	RegexLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	// RegexQwen2 is the expression of Qwen 2, 2.5 and 3.
	RegexQwen2 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	// RegexQwen35 is the expression of Qwen 3.5, in which marks belong to words.
	RegexQwen35 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	// RegexO200k is the expression of GPT-4o, gpt-oss and Llama 4.
	RegexO200k = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	// RegexTekken is the expression of Mistral Nemo and later Mistral models.
	RegexTekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

	// RegexDeepSeek3 is the last of the three expressions of DeepSeek V3 and R1.
	RegexDeepSeek3 = `[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// knownRegexes has a scanner for each expression that is more than a run of one
// class of characters. Spellings that match the same way share one.
var knownRegexes = func() map[string]func(t *classTable) scanner {
	llama3 := func(contraction bool, letter class, digits int, lineEnds bool) func(t *classTable) scanner {
		return func(t *classTable) scanner { return llama3Scanner{t, contraction, letter, digits, lineEnds} }
	}
	o200k := func(contraction bool, digits int) func(t *classTable) scanner {
		return func(t *classTable) scanner { return o200kScanner{t, contraction, digits} }
	}
	return map[string]func(t *classTable) scanner{
		RegexGPT2:      func(t *classTable) scanner { return gpt2Scanner{t} },
		RegexLlama3:    llama3(true, classL, 3, true),
		RegexQwen2:     llama3(true, classL, 1, true),
		RegexQwen35:    llama3(true, classL|classM, 1, true),
		RegexO200k:     o200k(true, 3),
		RegexTekken:    o200k(false, 1),
		RegexDeepSeek3: func(t *classTable) scanner { return deepSeek3Scanner{t} },
		`\s+$`:         func(t *classTable) scanner { return trailingSpace{t} },

		// cl100k as OpenAI's tiktoken spells it: possessive repeats and the single
		// line end at the end of its run make no difference.
		`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`: llama3(true, classL, 3, true),
		// Ling and LLaDA-MoE: the same with single digits.
		`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`: llama3(true, classL, 1, true),
		// Seed-Coder: line ends are never part of punctuation.
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+`: llama3(true, classL, 1, false),
		// MiniCPM 5: numbers of any length (a Split before has cut them into threes).
		`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: llama3(true, classL, 0, true),
		// Without contractions.
		`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`:      llama3(false, classL, 1, true),
		`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: llama3(false, classL, 3, true),
	}
}()

// controlEscapes spells control characters as escapes: JSON files hold "[\r\n]" with
// the characters themselves or with backslashes for the regular expression.
var controlEscapes = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`)

// compilePattern returns the scanner for a pattern. place names it in errors.
func compilePattern(p Pattern, place string) (scanner, error) {
	switch {
	case p.String != "" && p.Regex != "":
		return nil, placed(ErrField, place, "a pattern is either a String or a Regex, not both")
	case p.String != "":
		return literalScanner{p.String}, nil
	case p.Regex == "":
		return nil, placed(ErrUnsupported, place, "an empty pattern")
	}
	t := classes()
	regex := controlEscapes.Replace(p.Regex)
	if make := knownRegexes[regex]; make != nil {
		return make(t), nil
	}
	s, err := parseRun(t, regex)
	if err != nil {
		return nil, placed(ErrUnsupported, place, "the regular expression %q: %v", clip(p.Regex), err)
	}
	return s, nil
}

// literalScanner finds a fixed text.
type literalScanner struct{ text string }

func (l literalScanner) next(s string, i int) (int, int) {
	if k := strings.Index(s[i:], l.text); k >= 0 {
		return i + k, i + k + len(l.text)
	}
	return len(s), len(s)
}

// trailingSpace matches \s+$: in Oniguruma's Ruby syntax $ is the end of a line.
type trailingSpace struct{ t *classTable }

func (d trailingSpace) next(s string, i int) (int, int) {
	for i < len(s) {
		i = d.t.until(s, i, classSpace)
		end := d.t.while(s, i, classSpace)
		if end == len(s) {
			return i, end
		}
		// Back to the last place in the run that is followed by a line end.
		if k := strings.LastIndexByte(s[i:end], '\n'); k > 0 {
			return i, i + k
		}
		i = end
	}
	return len(s), len(s)
}
