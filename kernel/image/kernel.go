package image

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"
)

// Summary says what became of core.
type Summary struct {
	LoadsOfG int    // removed
	Trapped  int    // entry points of the runtime
	Symbols  int    // functions in the symbol table
	End      uint64 // first free byte of physical memory behind the image
}

// Kernel turns core, as linked, and services, an ELF program or nil, into a
// kernel image: an ELF file with a PVH note, which it returns. Errors wrap
// ErrLinked or ErrUnfit.
func Kernel(core io.ReaderAt, services []byte) ([]byte, Summary, error) {
	var sum Summary
	l, err := readLinked(core)
	if err != nil {
		return nil, sum, err
	}
	if err := l.check(); err != nil {
		return nil, sum, err
	}
	if sum.LoadsOfG, err = l.removeLoadsOfG(); err != nil {
		return nil, sum, err
	}
	if sum.Trapped, err = l.trapRuntime(); err != nil {
		return nil, sum, err
	}
	entry, err := findEntries(l)
	if err != nil {
		return nil, sum, err
	}
	symbols, err := l.symbolTable()
	if err != nil {
		return nil, sum, err
	}
	sum.Symbols = len(l.functions)
	end := uint64(0)
	for _, s := range l.segments {
		end = max(end, pageUp(s.phys+s.memSize))
	}
	if end > coreMax {
		return nil, sum, fmt.Errorf("%w: core ends at %#x, at most %#x is mapped", ErrLinked, end, coreMax)
	}

	b := make(blob, blobSize)
	at := func(off, size uint64, flags elf.ProgFlag) *segment {
		return &segment{virt: CoreBase + blobPhys + off, phys: blobPhys + off, memSize: size, flags: flags, data: b[off : off+size]}
	}
	table := &segment{CoreBase + symbolsPhys, symbolsPhys, uint64(len(symbols)), elf.PF_R, symbols}
	b.pageTables(append(slices.Clip(l.segments), table,
		at(offIDT, offGates-offIDT, elf.PF_R),
		at(offGates, offTrampoline-offGates, elf.PF_R|elf.PF_X),
		at(offTrampoline, offTrapStack-offTrampoline, elf.PF_R),
		at(offTrapStack, blobSize-offTrapStack, elf.PF_R|elf.PF_W),
	))
	b.descriptors()
	b.gates(entry)
	b.entry(entry.boot)
	b.trampoline(entry.ap)
	b.put(offInfo+infoSymbols, CoreBase+symbolsPhys)

	segments := append(slices.Clip(l.segments), table, at(0, blobSize, elf.PF_R|elf.PF_W|elf.PF_X))
	if services != nil {
		b.put(offInfo+infoServices, end)
		b.put(offInfo+infoServicesSize, uint64(len(services)))
		segments = append(segments, &segment{CoreBase + end, end, uint64(len(services)), elf.PF_R, services})
		end = pageUp(end + uint64(len(services)))
	}
	b.put(offInfo+infoEnd, end)
	sum.End = end
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.phys, b.phys) })
	return writeELF(segments, blobPhys+offEntry), sum, nil
}
