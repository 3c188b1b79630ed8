package acpi

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/core/phys"
)

var le = binary.LittleEndian

// ram stands in for physical memory.
func ram(t *testing.T) []byte {
	b := make([]byte, 64<<10)
	old := phys.Base
	phys.Base = uintptr(unsafe.Pointer(&b[0]))
	t.Cleanup(func() { phys.Base = old })
	return b
}

func table(b []byte, at int, signature string, body ...byte) {
	copy(b[at:], signature)
	le.PutUint32(b[at+4:], uint32(36+len(body)))
	copy(b[at+36:], body)
}

func u32(v uint32) []byte { return le.AppendUint32(nil, v) }

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// machine writes an RSDP at 0x100 whose root table, XSDT or RSDT, names the
// tables at 0x1000, 0x2000 and 0x3000.
func machine(b []byte, revision byte) {
	copy(b[0x100:], "RSD PTR ")
	b[0x100+15] = revision
	le.PutUint32(b[0x100+16:], 0x400)
	table(b, 0x400, "RSDT", join(u32(0x1000), u32(0x2000), u32(0x3000))...)
	if revision >= 2 {
		le.PutUint64(b[0x100+24:], 0x800)
		table(b, 0x800, "XSDT", join(u32(0x1000), u32(0), u32(0x2000), u32(0), u32(0x3000), u32(0))...)
	}
	table(b, 0x1000, "APIC", join(
		u32(0xfee00000), u32(1),
		[]byte{0, 8, 0, 7}, u32(1), // processor 7
		[]byte{0, 8, 1, 8}, u32(0), // not enabled
		[]byte{1, 12, 0, 0}, u32(0xfec00000), u32(0),
		[]byte{2, 10, 0, 0}, u32(2), []byte{5, 0}, // the PIT is input 2
		[]byte{4, 6, 255, 0, 0, 1}, // NMI
		[]byte{9, 16, 0, 0}, u32(300), u32(1), u32(0),
	)...)
	table(b, 0x2000, "FACP", make([]byte, 60)...)
	le.PutUint32(b[0x2000+76:], 0x608)
	table(b, 0x3000, "HPET", join(u32(0), []byte{0, 64, 0, 0}, u32(0xfed00000), u32(0))...)
}

func TestRead(t *testing.T) {
	for _, revision := range []byte{0, 2} {
		b := ram(t)
		machine(b, revision)
		var m Machine
		m.Read(0x100)
		if m.Count != 2 || m.Processors[0] != 7 || m.Processors[1] != 300 {
			t.Errorf("processors %v", m.Processors[:m.Count])
		}
		if m.IOAPIC != 0xfec00000 || m.HPET != 0xfed00000 || m.PMTimer != 0x608 {
			t.Errorf("IOAPIC %#x, HPET %#x, PM timer %#x", m.IOAPIC, m.HPET, m.PMTimer)
		}
		if m.Inputs[0] != 2 || m.Flags[0] != 5 || m.Inputs[4] != 4 {
			t.Errorf("inputs %v", m.Inputs)
		}
	}
}

func TestNoTables(t *testing.T) {
	ram(t)
	for _, at := range []uint64{0, 0x100, limit - 4, 1 << 40} {
		var m Machine
		m.Read(at)
		if m.Count != 0 || m.Inputs[15] != 15 {
			t.Errorf("%#x: %+v", at, m)
		}
	}
}

// Whatever the firmware wrote, Read ends and stays inside of memory: tables
// here may only name addresses in the array.
func FuzzRead(f *testing.F) {
	seed := make([]byte, 0x4000)
	machine(seed, 0)
	f.Add(seed[0x1000:0x1100])
	f.Fuzz(func(t *testing.T, madt []byte) {
		b := ram(t)
		machine(b, 0)
		copy(b[0x1000+36:0x2000], madt)
		le.PutUint32(b[0x1004:], uint32(min(36+len(madt), 0x1000)))
		var m Machine
		m.Read(0x100)
		if m.Count > MaxProcessors {
			t.Errorf("%d processors", m.Count)
		}
	})
}
