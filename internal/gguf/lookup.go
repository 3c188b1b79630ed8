package gguf

import "fmt"

// lookup decodes the value of a key: ErrNotFound where there is none.
func lookup[T any](f *File, key string, decode func(Value) (T, error)) (T, error) {
	v, ok := f.values[key]
	if !ok {
		var none T
		return none, fmt.Errorf("gguf: key %q: %w", key, ErrNotFound)
	}
	t, err := decode(v)
	if err != nil {
		err = fmt.Errorf("gguf: key %q: %w", key, err)
	}
	return t, err
}

// Uint returns the integer of a key.
func (f *File) Uint(key string) (uint64, error) { return lookup(f, key, Value.Uint) }

// Float returns the floating-point number of a key.
func (f *File) Float(key string) (float64, error) { return lookup(f, key, Value.Float) }

// Bool returns the bool of a key.
func (f *File) Bool(key string) (bool, error) { return lookup(f, key, Value.Bool) }

// Text returns the string of a key.
func (f *File) Text(key string) (string, error) { return lookup(f, key, Value.Text) }

// Strings returns the array of strings of a key.
func (f *File) Strings(key string) ([]string, error) { return lookup(f, key, Value.Strings) }

// Ints returns the array of integers of a key.
func (f *File) Ints(key string) ([]int64, error) { return lookup(f, key, Value.Ints) }
