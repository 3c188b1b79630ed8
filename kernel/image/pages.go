package image

import "debug/elf"

// Page table bits (SDM vol. 3, 4.5).
const (
	present   = 1 << 0
	writable  = 1 << 1
	noCache   = 3 << 3
	accessed  = 1 << 5
	dirty     = 1 << 6
	large     = 1 << 7
	global    = 1 << 8
	noExecute = 1 << 63

	table = present | writable | accessed
	page  = present | accessed | dirty
)

// pageTables writes the tables of the upper half.
//
// Nothing is both writable and executable: core is mapped by 4 KiB with the
// rights of its segments, and the direct map is writable but for core's text
// and constants. It covers 4 GiB here, the last of them uncached for devices;
// core adds what memory there is above.
func (b blob) pageTables(segments []*segment) {
	pml4 := []struct {
		slot  int
		entry uint64
	}{
		{slotDirect, blobPhys + offDirectPDPT | table},
		{slotHeap, blobPhys + offHeapPDPT | table},
		{slotHigh, blobPhys + offHighPDPT | table},
	}
	for _, e := range pml4 {
		b.put(offPML4+e.slot*8, e.entry)
		b.put(offBootPML4+e.slot*8, e.entry)
	}
	// The identity map: the first 2 MiB, to be left at once.
	b.put(offBootPML4, blobPhys+offBootPDPT|table)
	b.put(offBootPDPT, blobPhys+offBootPD|table)
	b.put(offBootPD, present|accessed|large)

	for i := range 4 {
		b.put(offDirectPDPT+i*8, blobPhys+offDirectPD+uint64(i)<<12|table)
		for j := range 512 {
			v := uint64(i)<<30 | uint64(j)<<21 | page | writable | large | global | noExecute
			if i == 3 { // devices
				v |= noCache
			}
			b.put(offDirectPD+i<<12+j*8, v)
		}
	}
	b.put(offHighPDPT+510*8, blobPhys+offHighPD|table)
	for i := range highTables {
		b.put(offHighPD+i*8, blobPhys+offHighPT+uint64(i)<<12|table)
		b.put(offDirectPD+i*8, blobPhys+offDirectPT+uint64(i)<<12|table)
	}
	for i := range uint64(highTables << 9) {
		b.put(offDirectPT+int(i)*8, i<<12|page|writable|global|noExecute)
	}
	for _, s := range segments {
		rights := uint64(page | global)
		if s.flags&elf.PF_W != 0 {
			rights |= writable
		}
		if s.flags&elf.PF_X == 0 {
			rights |= noExecute
		}
		for at := s.phys; at < s.phys+s.memSize; at += pageSize {
			i := int(at / pageSize)
			b.put(offHighPT+i*8, at|rights)
			b.put(offDirectPT+i*8, at|rights|noExecute)
		}
	}
}
