package grammar

import (
	"fmt"
	"math"
)

// Options say what is compiled and how far. The zero value, and nil, are the
// defaults.
type Options struct {
	// AnyOrder lets the properties of an object come in any order. By default
	// they come in the order of the schema, undeclared ones last.
	AnyOrder bool
	// Closed takes an object schema that has properties, and neither
	// additionalProperties nor patternProperties, as if additionalProperties
	// were false. What is produced is still valid by the schema as it stands.
	Closed bool
	// Spaced writes one space after each comma and colon, as Python's json.dumps
	// does and most models learned it. By default there is none.
	Spaced bool
	// Blanks is how many blanks (space, tab, line feed, carriage return) may
	// stand in a row, beyond what Spaced asks for, wherever JSON allows them;
	// at most 64. By default none may.
	Blanks int
	// Ignore names keywords that are to mean nothing ("x-order"), and formats
	// ("format:int32"). Everything else that has no meaning here is an error.
	Ignore []string

	// MaxBytes bounds the text: what is legal always leaves room for the end;
	// 65,536 by default, at most 2^28.
	MaxBytes int
	// MaxDepth bounds how deep arrays and objects nest, a tool call's own
	// included; 32 by default, at most 1,000.
	MaxDepth int
	// MaxNumber bounds the bytes of a number; 64 by default, at most 200, so
	// that every number stays within a float64's range.
	MaxNumber int

	// MaxSchema bounds the bytes of the schemas together; 1 MiB by default.
	MaxSchema int
	// MaxWork bounds the steps of compiling, most of them entries of the tables
	// of states that are made: about 20 ns and 4 bytes each; 20 million by
	// default.
	MaxWork int
}

// withDefaults returns the options with every limit set.
func (o *Options) withDefaults() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	for _, l := range []struct {
		name       string
		value      *int
		usual, max int
	}{
		{"Blanks", &r.Blanks, 0, 64},
		{"MaxBytes", &r.MaxBytes, 1 << 16, 1 << 28},
		{"MaxDepth", &r.MaxDepth, 32, 1000},
		{"MaxNumber", &r.MaxNumber, 64, 200},
		{"MaxSchema", &r.MaxSchema, 1 << 20, 1 << 30},
		{"MaxWork", &r.MaxWork, 20_000_000, math.MaxInt},
	} {
		if *l.value < 0 || *l.value > l.max {
			return r, fmt.Errorf("%w: Options.%s is %d, expected 0 to %d", ErrLimit, l.name, *l.value, l.max)
		}
		if *l.value == 0 {
			*l.value = l.usual
		}
	}
	return r, nil
}
