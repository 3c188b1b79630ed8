package safetensors

import "fmt"

// Memory says where the data of an opened checkpoint lies. The package's
// comment compares the modes.
type Memory uint8

// The memory modes.
const (
	// Mapped uses the data where it is: a file is mapped, bytes given to
	// [Parse] are used in place, what [NewReader] reads from is read at need.
	Mapped Memory = iota
	// Private copies the data to anonymous memory; the file may then change.
	Private
	// Huge is Private in pages of 2 MiB, where the system gives them.
	Huge
)

// String returns "mapped", "private" or "huge".
func (m Memory) String() string {
	switch m {
	case Mapped:
		return "mapped"
	case Private:
		return "private"
	case Huge:
		return "huge"
	}
	return fmt.Sprintf("Memory(%d)", uint8(m))
}

// ParseMemory returns the mode of the name that String gives.
func ParseMemory(name string) (Memory, error) {
	for m := Mapped; m <= Huge; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("safetensors: unknown memory mode %s, want mapped, private or huge", quote(name))
}

// DefaultMaxHeader is the default of [Options.MaxHeader] in bytes, the limit
// of the reference implementation.
const DefaultMaxHeader = 100_000_000

// Options are the options of [Open] and its kin. Nil means the zero value.
type Options struct {
	// Memory is where the data is to lie.
	Memory Memory
	// MaxHeader is the greatest length in bytes of a header or of an index;
	// 0 means [DefaultMaxHeader]. Reading a header may take twenty times its
	// length of memory.
	MaxHeader int64
}

func (o *Options) memory() Memory {
	if o == nil {
		return Mapped
	}
	return o.Memory
}

func (o *Options) maxHeader() uint64 {
	if o == nil || o.MaxHeader <= 0 {
		return DefaultMaxHeader
	}
	return uint64(o.MaxHeader)
}
