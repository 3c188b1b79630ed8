package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// ValueType is the type of a metadata value, by its number in the file.
type ValueType uint32

// The types of metadata values.
const (
	Uint8 ValueType = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

var valueTypes = [...]struct {
	name  string
	bytes uint64 // 0: of its own length
}{
	Uint8: {"uint8", 1}, Int8: {"int8", 1}, Uint16: {"uint16", 2}, Int16: {"int16", 2},
	Uint32: {"uint32", 4}, Int32: {"int32", 4}, Float32: {"float32", 4}, Bool: {"bool", 1},
	String: {"string", 0}, Array: {"array", 0}, Uint64: {"uint64", 8}, Int64: {"int64", 8}, Float64: {"float64", 8},
}

// String returns the type's name.
func (t ValueType) String() string {
	if t.known() {
		return valueTypes[t].name
	}
	return fmt.Sprintf("value type %d", uint32(t))
}

func (t ValueType) known() bool { return uint64(t) < uint64(len(valueTypes)) }

// Value is a metadata value. It stays in the file until one of its methods
// decodes it; the parser has checked that it can be decoded.
type Value struct {
	kind    ValueType
	element ValueType // of an array
	count   uint64    // of an array
	at      int       // the byte of the file where it starts
	raw     []byte    // the value, without its type, count or length
}

// Type returns the type of the value.
func (v Value) Type() ValueType { return v.kind }

// Element returns the type of the elements and their number, of an array.
func (v Value) Element() (ValueType, uint64) { return v.element, v.count }

// value reads a value with the type before it.
func (r *reader) value() (Value, error) {
	kind, err := r.valueType()
	if err != nil {
		return Value{}, err
	}
	return r.valueOf(kind, 0)
}

func (r *reader) valueType() (ValueType, error) {
	at := r.pos
	n, err := r.uint32()
	if err != nil {
		return 0, fmt.Errorf("value type: %w", err)
	}
	if t := ValueType(n); t.known() {
		return t, nil
	}
	return 0, fmt.Errorf("%w: type %d at byte %d, want 0 to %d", ErrValue, n, at, len(valueTypes)-1)
}

func (r *reader) valueOf(kind ValueType, depth int) (Value, error) {
	v := Value{kind: kind, at: r.pos}
	var err error
	switch kind {
	case String:
		v.raw, err = r.string()
	case Array:
		return r.array(depth + 1)
	default:
		at := r.pos
		if v.raw, err = r.bytes(valueTypes[kind].bytes); err == nil && kind == Bool {
			err = checkBools(v.raw, at)
		}
	}
	return v, err
}

// array reads an array from its element type on.
func (r *reader) array(depth int) (Value, error) {
	v := Value{kind: Array, at: r.pos}
	if depth > maxNesting {
		return v, fmt.Errorf("%w: arrays nested more than %d deep at byte %d", ErrValue, maxNesting, r.pos)
	}
	var err error
	if v.element, err = r.valueType(); err != nil {
		return v, fmt.Errorf("array: %w", err)
	}
	at := r.pos
	if v.count, err = r.uint64(); err != nil {
		return v, fmt.Errorf("array length: %w", err)
	}
	least := valueTypes[v.element].bytes
	switch v.element {
	case String:
		least = 8
	case Array:
		least = 4 + 8
	}
	if v.count > r.left()/least {
		return v, fmt.Errorf("%w: array of %d values of type %v at byte %d, the %d bytes left hold at most %d",
			ErrTruncated, v.count, v.element, at, r.left(), r.left()/least)
	}
	start := r.pos
	switch v.element {
	case String, Array:
		for i := range v.count {
			if _, err := r.valueOf(v.element, depth); err != nil {
				return v, fmt.Errorf("element %d: %w", i, err)
			}
		}
	default:
		b, err := r.bytes(v.count * least)
		if err != nil {
			return v, err
		}
		if v.element == Bool {
			if err := checkBools(b, start); err != nil {
				return v, err
			}
		}
	}
	v.raw = r.data[start:r.pos:r.pos]
	return v, nil
}

// checkBools checks what the format says: a bool is one byte, 0 or 1.
func checkBools(b []byte, at int) error {
	for i, v := range b {
		if v > 1 {
			return fmt.Errorf("%w: bool %d at byte %d, want 0 or 1", ErrValue, v, at+i)
		}
	}
	return nil
}

func (v Value) is(want string) error {
	if v.kind == Array {
		return fmt.Errorf("%w: array of %v at byte %d, want %s", ErrValueType, v.element, v.at, want)
	}
	return fmt.Errorf("%w: %v at byte %d, want %s", ErrValueType, v.kind, v.at, want)
}

// Uint returns an integer value of any width that is not negative.
func (v Value) Uint() (uint64, error) {
	n, negative, ok := integer(v.kind, v.raw)
	if !ok {
		return 0, v.is("an integer")
	}
	if negative {
		return 0, fmt.Errorf("%w: %d at byte %d, want an integer of at least 0", ErrValue, int64(n), v.at)
	}
	return n, nil
}

// integer decodes an integer: its bits in 64, and whether it is below zero.
func integer(t ValueType, b []byte) (n uint64, negative, ok bool) {
	var i int64
	switch t {
	case Uint8:
		return uint64(b[0]), false, true
	case Uint16:
		return uint64(binary.LittleEndian.Uint16(b)), false, true
	case Uint32:
		return uint64(binary.LittleEndian.Uint32(b)), false, true
	case Uint64:
		return binary.LittleEndian.Uint64(b), false, true
	case Int8:
		i = int64(int8(b[0]))
	case Int16:
		i = int64(int16(binary.LittleEndian.Uint16(b)))
	case Int32:
		i = int64(int32(binary.LittleEndian.Uint32(b)))
	case Int64:
		i = int64(binary.LittleEndian.Uint64(b))
	default:
		return 0, false, false
	}
	return uint64(i), i < 0, true
}

// Float returns a floating-point value of either width.
func (v Value) Float() (float64, error) {
	switch v.kind {
	case Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.raw))), nil
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.raw)), nil
	}
	return 0, v.is("a floating-point number")
}

// Bool returns a bool value.
func (v Value) Bool() (bool, error) {
	if v.kind != Bool {
		return false, v.is("bool")
	}
	return v.raw[0] == 1, nil
}

// Text returns a copy of a string value.
func (v Value) Text() (string, error) {
	if v.kind != String {
		return "", v.is("string")
	}
	return string(v.raw), nil
}

// Strings returns a copy of an array of strings.
func (v Value) Strings() ([]string, error) {
	if v.kind != Array || v.element != String {
		return nil, v.is("array of strings")
	}
	// One copy of all of it, lengths included: the strings are parts of it.
	all := string(v.raw)
	s := make([]string, v.count)
	for i, pos := 0, 0; i < len(s); i++ {
		n := int(binary.LittleEndian.Uint64(v.raw[pos:]))
		s[i] = all[pos+8 : pos+8+n]
		pos += 8 + n
	}
	return s, nil
}

// Ints returns an array of integers of any width, each of which fits in int64.
func (v Value) Ints() ([]int64, error) {
	width := valueTypes[v.element].bytes
	if v.kind != Array || width == 0 {
		return nil, v.is("array of integers")
	}
	s := make([]int64, v.count)
	for i := range s {
		n, negative, ok := integer(v.element, v.raw[uint64(i)*width:])
		if !ok {
			return nil, v.is("array of integers")
		}
		if !negative && n > math.MaxInt64 {
			return nil, fmt.Errorf("%w: element %d of the array at byte %d is %d, want at most %d", ErrValue, i, v.at, n, int64(math.MaxInt64))
		}
		s[i] = int64(n)
	}
	return s, nil
}

// Values returns the elements of an array of any type, nested ones too.
func (v Value) Values() ([]Value, error) {
	if v.kind != Array {
		return nil, v.is("array")
	}
	r := &reader{data: v.raw}
	s := make([]Value, v.count)
	for i := range s {
		var err error
		if s[i], err = r.valueOf(v.element, 0); err != nil {
			return nil, err
		}
	}
	return s, nil
}
