package bpe

// The character classes come from the tokenizers package of PyPI, by the
// Python of ./test where LEVERET_PYTHON names it.
//
//go:generate sh -c "${DOLLAR}{LEVERET_PYTHON:-python3} ../../tools/bpefuzz/unicode_tables.py unicode_tables.go"
