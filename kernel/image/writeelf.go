package image

import "debug/elf"

// writeELF writes an ELF file of segments that is entered at a physical
// address, by way of a PVH note (Xen's public/elfnote.h,
// XEN_ELFNOTE_PHYS32_ENTRY).
func writeELF(segments []*segment, entry uint64) []byte {
	const headerSize, progSize = 64, 56
	var note []byte
	note = le.AppendUint32(note, 4)
	note = le.AppendUint32(note, 8)
	note = le.AppendUint32(note, 18)
	note = append(note, "Xen\x00"...)
	note = le.AppendUint64(note, entry)

	n := len(segments) + 1
	out := make([]byte, headerSize)
	copy(out, "\x7fELF\x02\x01\x01")
	le.PutUint16(out[16:], uint16(elf.ET_EXEC))
	le.PutUint16(out[18:], uint16(elf.EM_X86_64))
	le.PutUint32(out[20:], uint32(elf.EV_CURRENT))
	le.PutUint64(out[24:], entry)
	le.PutUint64(out[32:], headerSize)
	le.PutUint16(out[52:], headerSize)
	le.PutUint16(out[54:], progSize)
	le.PutUint16(out[56:], uint16(n))
	prog := func(kind elf.ProgType, flags elf.ProgFlag, values ...uint64) {
		out = le.AppendUint32(out, uint32(kind))
		out = le.AppendUint32(out, uint32(flags))
		for _, v := range values {
			out = le.AppendUint64(out, v)
		}
	}
	noteAt := uint64(headerSize + progSize*n)
	off := pageUp(noteAt + uint64(len(note)))
	prog(elf.PT_NOTE, elf.PF_R, noteAt, 0, 0, uint64(len(note)), uint64(len(note)), 4)
	at := off
	for _, s := range segments {
		prog(elf.PT_LOAD, s.flags, at, s.virt, s.phys, uint64(len(s.data)), s.memSize, pageSize)
		at = pageUp(at + uint64(len(s.data)))
	}
	out = append(out, note...)
	for _, s := range segments {
		out = append(out, make([]byte, pageUp(uint64(len(out)))-uint64(len(out)))...)
		out = append(out, s.data...)
	}
	return out
}

const pageSize = 4096

func pageUp(n uint64) uint64 { return (n + pageSize - 1) &^ (pageSize - 1) }
