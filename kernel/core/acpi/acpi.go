// Package acpi reads the few ACPI tables that tell what a machine has:
// processors, interrupt controllers and clocks (ACPI Specification 6.5,
// chapter 5; IA-PC HPET Specification 1.0a, 3.2.4).
//
// Tables come from firmware: lengths and addresses are checked, sums are not.
package acpi

import "github.com/leveret-os/leveret/kernel/core/phys"

// MaxProcessors is how many processors Machine has room for.
const MaxProcessors = 256

// Machine is what the tables say. Its zero value is a machine without tables.
type Machine struct {
	Processors [MaxProcessors]uint32 // APIC ids of those that can be started
	Count      uint64                // of Processors

	IOAPIC     uint64 // physical address, 0 if none
	IOAPICBase uint32 // first interrupt number of the IOAPIC

	// Inputs maps ISA interrupts to IOAPIC inputs, Flags are their polarity
	// and trigger (MPS INTI flags).
	Inputs [16]uint32
	Flags  [16]uint16

	HPET    uint64 // physical address, 0 if none
	PMTimer uint64 // I/O port, 0 if none
}

// limit is where the direct map that exists at boot ends.
const limit = 4 << 30

const (
	headerSize = 36

	signatureRSDP = 0x2052545020445352 // "RSD PTR "
	signatureMADT = 0x43495041         // "APIC"
	signatureFADT = 0x50434146         // "FACP"
	signatureHPET = 0x54455048         // "HPET"
)

func word8(a uint64) uint8   { return *(*uint8)(phys.Pointer(a)) }
func word32(a uint64) uint32 { return uint32(word16(a)) | uint32(word16(a+2))<<16 }
func word64(a uint64) uint64 { return uint64(word32(a)) | uint64(word32(a+4))<<32 }
func word16(a uint64) uint16 { return uint16(word8(a)) | uint16(word8(a+1))<<8 }

// Read fills m from the tables that the RSDP at a physical address leads to.
func (m *Machine) Read(rsdp uint64) {
	for i := range uint32(16) {
		m.Inputs[i] = i
	}
	if rsdp == 0 || rsdp >= limit-headerSize || word64(rsdp) != signatureRSDP {
		return
	}
	root, entrySize := uint64(word32(rsdp+16)), uint64(4)
	if word8(rsdp+15) >= 2 && word64(rsdp+24) != 0 {
		root, entrySize = word64(rsdp+24), 8
	}
	length := tableLength(root)
	for off := uint64(headerSize); off+entrySize <= length; off += entrySize {
		table := uint64(word32(root + off))
		if entrySize == 8 {
			table = word64(root + off)
		}
		if n := tableLength(table); n != 0 {
			m.table(table, n)
		}
	}
}

// tableLength returns the length of the table at a, or 0 when there cannot be
// one.
func tableLength(a uint64) uint64 {
	if a == 0 || a >= limit-headerSize {
		return 0
	}
	n := uint64(word32(a + 4))
	if n < headerSize || a+n > limit {
		return 0
	}
	return n
}

func (m *Machine) table(a, n uint64) {
	switch word32(a) {
	case signatureMADT:
		m.madt(a, n)
	case signatureFADT:
		if n >= 80 {
			m.PMTimer = uint64(word32(a + 76))
		}
	case signatureHPET:
		// A generic address in memory space.
		if n >= 52 && word8(a+40) == 0 {
			m.HPET = word64(a + 44)
		}
	}
}

// Entries of the MADT.
const (
	entryLocalAPIC   = 0
	entryIOAPIC      = 1
	entryOverride    = 2
	entryLocalX2APIC = 9

	flagEnabled = 1
)

func (m *Machine) madt(a, n uint64) {
	for off := uint64(44); off+2 <= n; {
		e, size := a+off, uint64(word8(a+off+1))
		if size < 2 || off+size > n {
			return
		}
		switch kind := word8(e); {
		case kind == entryLocalAPIC && size >= 8 && word32(e+4)&flagEnabled != 0:
			m.processor(uint32(word8(e + 3)))
		case kind == entryLocalX2APIC && size >= 16 && word32(e+8)&flagEnabled != 0:
			m.processor(word32(e + 4))
		case kind == entryIOAPIC && size >= 12 && m.IOAPIC == 0:
			m.IOAPIC, m.IOAPICBase = uint64(word32(e+4)), word32(e+8)
		case kind == entryOverride && size >= 10 && word8(e+3) < 16:
			m.Inputs[word8(e+3)], m.Flags[word8(e+3)] = word32(e+4), word16(e+8)
		}
		off += size
	}
}

func (m *Machine) processor(id uint32) {
	if m.Count < MaxProcessors {
		m.Processors[m.Count] = id
		m.Count++
	}
}
