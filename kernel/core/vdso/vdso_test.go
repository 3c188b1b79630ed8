package vdso

import (
	"bytes"
	"debug/elf"
	"testing"
	"unsafe"
)

func TestSymbolsAsELFReads(t *testing.T) {
	var p [Size]byte
	code := bytes.Repeat([]byte{0xc3}, 100)
	offsets := [Functions]uint64{0, 20, 40, 60, 80}
	Build(unsafe.Pointer(&p), unsafe.Pointer(&code[0]), len(code), &offsets)
	f, err := elf.NewFile(bytes.NewReader(p[:]))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_DYN || f.Machine != elf.EM_X86_64 || len(f.Progs) != 2 {
		t.Fatalf("%v %v, %d segments", f.Type, f.Machine, len(f.Progs))
	}
	// Without sections debug/elf does not read symbols: do as a loader does.
	u32 := func(at uint64) uint64 { return uint64(f.ByteOrder.Uint32(p[at:])) }
	u64 := func(at uint64) uint64 { return f.ByteOrder.Uint64(p[at:]) }
	table := map[uint64]uint64{}
	for at := f.Progs[1].Off; u64(at) != 0; at += 16 {
		table[u64(at)] = u64(at + 8)
	}
	str := func(at uint64) string {
		s := p[table[5]+at:]
		return string(s[:bytes.IndexByte(s, 0)])
	}
	if s := str(table[14]); s != "linux-vdso.so.1" {
		t.Errorf("DT_SONAME %q", s)
	}
	// The version that Go's runtime looks for (runtime/vdso_linux_amd64.go).
	def := table[0x6ffffffc] + 28
	if str(u32(def+20)) != "LINUX_2.6" || u32(def+8) != 0x3ae75f6 {
		t.Errorf("version %q, hash %#x", str(u32(def+20)), u32(def+8))
	}
	got := map[string]uint64{}
	hash := table[4]
	if u32(hash) != 1 {
		t.Fatalf("%d buckets", u32(hash))
	}
	for i := u32(hash + 8); i != 0; i = u32(hash + 12 + i*4) {
		at := table[6] + i*24
		got[str(u32(at))] = u64(at + 8)
	}
	want := map[string]uint64{"clock_gettime": 0, "gettimeofday": 20, "time": 40, "getcpu": 60, "clock_getres": 80}
	for name, at := range want {
		for _, n := range []string{name, "__vdso_" + name} {
			if got[n] != CodeOffset+at {
				t.Errorf("%s is at %#x, want %#x", n, got[n], CodeOffset+at)
			}
		}
	}
	if len(got) != 2*len(want) {
		t.Errorf("%d symbols: %v", len(got), got)
	}
	if p[CodeOffset+99] != 0xc3 {
		t.Error("the code is not there")
	}
}
