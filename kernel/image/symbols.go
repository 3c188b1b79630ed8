package image

import "fmt"

// symbolTable returns the table that core's crash reports are written with:
// the number of functions as a u64; for each, by address, its address as a
// u64, the offset of its name in the table and the name's length as u32; then
// the names.
func (l *linked) symbolTable() ([]byte, error) {
	var table, names []byte
	table = le.AppendUint64(table, uint64(len(l.functions)))
	base := 8 + 16*len(l.functions)
	for _, f := range l.functions {
		table = le.AppendUint64(table, f.addr)
		table = le.AppendUint32(table, uint32(base+len(names)))
		table = le.AppendUint32(table, uint32(len(f.name)))
		names = append(names, f.name...)
	}
	table = append(table, names...)
	if len(table) > symbolsMax {
		return nil, fmt.Errorf("%w: a symbol table of %d bytes, at most %d fit", ErrLinked, len(table), symbolsMax)
	}
	return table, nil
}
