// Package grammar compiles JSON Schemas, and the schemas of tools, to automata
// over bytes, and says of each state of a text which tokens of a vocabulary may
// come next: so what a model writes parses, and is valid, by construction.
//
//	g, err := grammar.CompileTools(tools, nil)
//	v, err := grammar.NewVocabulary(n, tokenBytes, eos)
//	m := g.NewMatcher(v) // a pkg/llama Constraint
//
// What cannot be compiled exactly is an error that names the keyword and its
// place; nothing is ignored silently, fetched or read. docs/grammar.md says what
// is supported.
package grammar
