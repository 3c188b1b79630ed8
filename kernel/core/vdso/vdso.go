// Package vdso lays out the shared object that the kernel maps into every
// program (vdso(7)): an ELF file of one page with dynamic symbols, around code
// that it is given. Its data page lies below it.
//
// C libraries and Go's runtime find it by AT_SYSINFO_EHDR and look its symbols
// up by DT_HASH, DT_SYMTAB and DT_STRTAB, in the version LINUX_2.6.
package vdso

import "unsafe"

// Size is a page.
const Size = 4096

// CodeOffset is where the code lies.
const CodeOffset = 0x800

// MaxCode is how many bytes of code there may be.
const MaxCode = Size - CodeOffset

// Function is a function of the code.
type Function int

// The functions, each under its own name and with the prefix __vdso_.
const (
	ClockGettime Function = iota
	Gettimeofday
	Time
	Getcpu
	ClockGetres
	Functions
)

// names holds the strings of the symbol table, each with a NUL.
const names = "\x00__vdso_clock_gettime\x00__vdso_gettimeofday\x00__vdso_time\x00__vdso_getcpu\x00__vdso_clock_getres\x00linux-vdso.so.1\x00LINUX_2.6\x00"

// lengths of the names with the prefix.
var lengths = [Functions]int{20, 19, 11, 13, 19}

const prefix = len("__vdso_")

const symbols = 1 + 2*int(Functions)

// Where things lie.
const (
	headerSize     = 64
	segments       = 2
	dynamicOffset  = 0x100
	symbolOffset   = 0x200
	stringOffset   = symbolOffset + symbols*24
	hashOffset     = (stringOffset + len(names) + 7) &^ 7
	versionOffset  = (hashOffset + (2+1+symbols)*4 + 7) &^ 7
	defOffset      = (versionOffset + symbols*2 + 7) &^ 7
	defSize        = 20 + 8 // struct Verdef and one Verdaux
	end            = defOffset + 2*defSize
	dynamicEntries = 10

	soname  = len(names) - len("linux-vdso.so.1\x00LINUX_2.6\x00")
	version = len(names) - len("LINUX_2.6\x00")
	// versionHash is the ELF hash of LINUX_2.6.
	versionHash = 0x3ae75f6
)

const _ = uint(CodeOffset - end)

type page struct{ p unsafe.Pointer }

func (g page) put8(at int, v uint8)   { *(*uint8)(unsafe.Add(g.p, at)) = v }
func (g page) put16(at int, v uint16) { *(*uint16)(unsafe.Add(g.p, at)) = v }
func (g page) put32(at int, v uint32) { *(*uint32)(unsafe.Add(g.p, at)) = v }
func (g page) put64(at int, v uint64) { *(*uint64)(unsafe.Add(g.p, at)) = v }

// Build fills the zeroed page at p. code holds size bytes, at most MaxCode;
// offsets are the functions' in it.
func Build(p, code unsafe.Pointer, size int, offsets *[Functions]uint64) {
	g := page{p}
	for i := 0; i < size; i++ {
		g.put8(CodeOffset+i, *(*uint8)(unsafe.Add(code, i)))
	}
	// ELF header (System V ABI, chapter 4).
	g.put32(0, 0x464c457f)
	g.put8(4, 2)   // 64 bit
	g.put8(5, 1)   // little endian
	g.put8(6, 1)   // version
	g.put16(16, 3) // ET_DYN
	g.put16(18, 62)
	g.put32(20, 1)
	g.put64(32, headerSize)
	g.put16(52, headerSize)
	g.put16(54, 56)
	g.put16(56, segments)
	g.segment(0, 1, 5, 0, Size, Size)
	g.segment(1, 2, 4, dynamicOffset, dynamicEntries*16, 8)

	d := dynamicOffset
	entries := [...][2]uint64{
		{14, uint64(soname)}, // DT_SONAME
		{4, uint64(hashOffset)},
		{5, uint64(stringOffset)},
		{6, symbolOffset},
		{10, uint64(len(names))},
		{11, 24},
		{0x6ffffff0, uint64(versionOffset)}, // DT_VERSYM
		{0x6ffffffc, uint64(defOffset)},     // DT_VERDEF
		{0x6ffffffd, 2},                     // DT_VERDEFNUM
		{0, 0},
	}
	for i := range entries { // values would be copied by way of X0
		g.put64(d, entries[i][0])
		g.put64(d+8, entries[i][1])
		d += 16
	}
	for i := 0; i < len(names); i++ {
		g.put8(stringOffset+i, names[i])
	}
	name, s := 1, symbolOffset+24
	for f := Function(0); f < Functions; f++ {
		end := uint64(size)
		if f+1 < Functions {
			end = offsets[f+1]
		}
		g.symbol(s, name, 1, offsets[f], end)
		g.symbol(s+24, name+prefix, 2, offsets[f], end)
		s += 48
		name += lengths[f] + 1
	}
	for i := 1; i < symbols; i++ {
		g.put16(versionOffset+i*2, 2)
	}
	g.definition(defOffset, 1, 1, 0, soname, defSize)
	g.definition(defOffset+defSize, 0, 2, versionHash, version, 0)
	// One bucket with all symbols.
	g.put32(hashOffset, 1)
	g.put32(hashOffset+4, uint32(symbols))
	g.put32(hashOffset+8, 1)
	for i := 1; i+1 < symbols; i++ {
		g.put32(hashOffset+12+i*4, uint32(i+1))
	}
}

// definition writes a version definition (Linux Standard Base, 10.7.3).
func (g page) definition(at int, flags, index uint16, hash uint32, name, next int) {
	g.put16(at, 1)
	g.put16(at+2, flags)
	g.put16(at+4, index)
	g.put16(at+6, 1)
	g.put32(at+8, hash)
	g.put32(at+12, 20)
	g.put32(at+16, uint32(next))
	g.put32(at+20, uint32(name))
}

func (g page) segment(i int, kind, flags uint32, offset, size, align uint64) {
	at := headerSize + i*56
	g.put32(at, kind)
	g.put32(at+4, flags)
	g.put64(at+8, offset)
	g.put64(at+16, offset)
	g.put64(at+24, offset)
	g.put64(at+32, size)
	g.put64(at+40, size)
	g.put64(at+48, align)
}

// symbol writes a function's symbol; binding 1 is global, 2 weak.
func (g page) symbol(at, name int, binding uint8, start, end uint64) {
	g.put32(at, uint32(name))
	g.put8(at+4, binding<<4|2)
	g.put16(at+6, 10) // a section index that is not 0: defined
	g.put64(at+8, CodeOffset+start)
	g.put64(at+16, end-start)
}
