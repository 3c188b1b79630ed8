package bpe

// Definition is a whole tokenizer as plain data: the five stages, the
// vocabulary and the added tokens. tokenizer.json, vocab.json with merges.txt,
// and other containers such as GGUF all come to [New] in this form.
//
// The configuration structs mirror tokenizer.json: Type holds the name used
// there ("ByteLevel", "Sequence", …), and only the fields of that type count.
// An empty Type means that the stage is absent.
type Definition struct {
	Normalizer    NormalizerConfig
	PreTokenizer  PreTokenizerConfig
	PostProcessor PostProcessorConfig
	Decoder       DecoderConfig

	// Vocab holds the model's tokens by id, spelled as in vocab.json (byte-level
	// tokens in the printable byte alphabet: a leading space is "Ġ"). An empty
	// string is a hole: an id without a token.
	Vocab []string

	// Merges holds the merge rules, the strongest first. Both sides and their
	// concatenation must be in Vocab.
	Merges [][2]string

	// AddedTokens are matched in the text before the model sees it.
	AddedTokens []AddedToken

	// UnknownToken stands for characters without a token; when empty such
	// characters are dropped (which never happens with a full byte alphabet).
	UnknownToken string
	// FuseUnknown makes one token of adjacent unknown characters.
	FuseUnknown bool
	// ByteFallback spells unknown characters by the tokens "<0x00>"…"<0xFF>".
	ByteFallback bool
	// IgnoreMerges takes a piece that is itself a token as that token, even if
	// the merges would not lead to it (Llama 3).
	IgnoreMerges bool
}

// AddedToken is a token matched in the text itself, outside the model: control
// tokens such as "<|im_end|>", and words added after training. Where several
// match at one place the longest wins.
type AddedToken struct {
	// ID is the token's id. Where Content is already in the vocabulary, the
	// vocabulary's id is used, as in tokenizers.
	ID int
	// Content is the spelling to match, 1 to 1024 bytes.
	Content string
	// SingleWord matches only where no letter, digit or underscore is adjacent.
	SingleWord bool
	// LStrip and RStrip take the white space on that side into the match.
	LStrip, RStrip bool
	// Normalized matches the normalised content in the normalised text, rather
	// than the content in the text as written.
	Normalized bool
	// Special marks control tokens: matched in text only with
	// [EncodeOptions.ParseSpecial], left out by [DecodeOptions.SkipSpecial].
	Special bool
}

// Pattern is what Split and Replace look for: a literal String, or a Regex in
// Oniguruma's syntax. Regular expressions are not interpreted: the known ones
// have scanners of their own (see [RegexGPT2] and the names beside it) and so
// does each expression of the form "X?[class]+"; any other is refused.
type Pattern struct {
	String string
	Regex  string
}

// Behavior says what Split and Punctuation do with what they found.
type Behavior string

// The behaviours of a split, by the example of "-" in "the-final--countdown".
const (
	Removed            Behavior = "Removed"            // the, final, countdown
	Isolated           Behavior = "Isolated"           // the, -, final, -, -, countdown
	MergedWithPrevious Behavior = "MergedWithPrevious" // the-, final-, -, countdown
	MergedWithNext     Behavior = "MergedWithNext"     // the, -final, -, -countdown
	Contiguous         Behavior = "Contiguous"         // the, -, final, --, countdown
)

// NormalizerConfig rewrites the text before it is split. Types: NFC, NFD, NFKC,
// NFKD, Lowercase, Replace, Prepend, Strip, ByteLevel, Sequence.
type NormalizerConfig struct {
	Type        string
	Pattern     Pattern            // Replace: what to replace
	Content     string             // Replace: by what
	Prepend     string             // Prepend: put before text that is not empty
	StripLeft   bool               // Strip: white space at the start
	StripRight  bool               // Strip: white space at the end
	Normalizers []NormalizerConfig // Sequence
}

// PreTokenizerConfig cuts the text into pieces that merges never cross. Types:
// ByteLevel, Digits, Split, Punctuation, Metaspace, Sequence.
type PreTokenizerConfig struct {
	Type string

	AddPrefixSpace bool // ByteLevel: put a space before a piece that has none
	UseRegex       bool // ByteLevel: cut as GPT-2 does (absent in tokenizer.json: true)

	IndividualDigits bool // Digits: each digit on its own

	Pattern  Pattern  // Split
	Behavior Behavior // Split, Punctuation
	Invert   bool     // Split: the pattern matches what is between delimiters

	Replacement   string // Metaspace: the character that stands for a space, "▁"
	PrependScheme string // Metaspace: "always", "first" or "never"
	Split         bool   // Metaspace: cut before each replacement

	PreTokenizers []PreTokenizerConfig // Sequence
}

// PostProcessorConfig adds tokens around the ids when [EncodeOptions.AddSpecial]
// asks for it. Types: ByteLevel (which changes nothing here), TemplateProcessing,
// Sequence (with at most one template).
type PostProcessorConfig struct {
	Type       string
	Single     []TemplatePiece       // TemplateProcessing: the form for one text
	Processors []PostProcessorConfig // Sequence
}

// TemplatePiece is one element of a template: the text's own ids, or a fixed
// special token.
type TemplatePiece struct {
	Special string // name of the special token; empty for the text itself
	IDs     []int  // the ids that stand for Special
}

// DecoderConfig turns tokens back into text. Types: ByteLevel, Replace,
// ByteFallback, Fuse, Strip, Metaspace, Sequence. Without a decoder tokens are
// joined by spaces, as in tokenizers.
type DecoderConfig struct {
	Type          string
	Pattern       Pattern         // Replace
	Content       string          // Replace: by what; Strip: the one character to strip
	Start, Stop   int             // Strip: at most so many at the start and at the end
	Replacement   string          // Metaspace
	PrependScheme string          // Metaspace
	Decoders      []DecoderConfig // Sequence
}
