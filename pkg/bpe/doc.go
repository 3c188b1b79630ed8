// Package bpe turns text into token ids and back with byte-level byte pair
// encoding, giving the ids that Hugging Face's tokenizers library gives.
//
// A tokenizer is five stages, kept apart here as in that library, because most
// tokenizer faults sit at the borders between them:
//
//	text ─▶ added tokens ─▶ normaliser ─▶ added tokens ─▶ pre-tokeniser ─▶ model ─▶ post-processor ─▶ ids
//	        (as written)                  (normalised)                    (merges)  (BOS and the like)
//
//	ids ─▶ tokens ─▶ decoder ─▶ text
//
// [Load] reads a model folder, [Parse] a tokenizer.json, [New] a [Definition]
// made by hand (or from another container such as GGUF). A [Tokenizer] never
// changes and may be used by any number of goroutines at once.
//
// # Text
//
// A Go string may hold any bytes. Bytes that are not UTF-8 are replaced by
// U+FFFD before anything else, one for each maximal ill-formed subsequence:
// what Python's bytes.decode("utf-8", "replace") and Rust's
// String::from_utf8_lossy do, so what tokenizers would have received.
// Decoding replaces the same way.
//
// # Special tokens in text
//
// By default text is only text: "<|im_end|>" written by a user becomes plain
// pieces and never the control token. [EncodeOptions.ParseSpecial] turns the
// spelling of special tokens into their ids, for prompts that the program
// itself made. Added tokens that are not special always match, as in tokenizers.
//
// # Cost
//
// Encoding takes time proportional to n log n in the length of the longest
// piece that the pre-tokeniser leaves, whatever the text; no result is kept
// between calls.
//
// # Sources
//
// The behaviour is that of PyPI's tokenizers 0.23.3, the oracle of the tests.
// Byte pair encoding for text: Sennrich et al., "Neural Machine Translation of
// Rare Words with Subword Units" (2016). Byte level: Radford et al., "Language
// Models are Unsupervised Multitask Learners" (2019).
package bpe
