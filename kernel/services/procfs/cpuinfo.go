package procfs

import (
	"bytes"
	"fmt"
	"runtime"

	"golang.org/x/sys/cpu"

	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// cpuinfo has the fields that programs look for. The flags are those that
// x/sys/cpu finds, named as Linux names them.
func (p *proc) cpuinfo(*vfs.Caller) []byte {
	flags := "fpu tsc msr pae cx8 apic cmov clflush mmx fxsr sse sse2 syscall nx lm constant_tsc"
	if runtime.GOARCH == "amd64" {
		for _, f := range [...]struct {
			on   bool
			name string
		}{{cpu.X86.HasSSE3, "pni"}, {cpu.X86.HasPCLMULQDQ, "pclmulqdq"}, {cpu.X86.HasSSSE3, "ssse3"}, {cpu.X86.HasFMA, "fma"}, {cpu.X86.HasSSE41, "sse4_1"}, {cpu.X86.HasSSE42, "sse4_2"},
			{cpu.X86.HasPOPCNT, "popcnt"}, {cpu.X86.HasAES, "aes"}, {cpu.X86.HasAVX, "avx"}, {cpu.X86.HasRDRAND, "rdrand"}, {cpu.X86.HasBMI1, "bmi1"}, {cpu.X86.HasAVX2, "avx2"},
			{cpu.X86.HasBMI2, "bmi2"}, {cpu.X86.HasERMS, "erms"}, {cpu.X86.HasAVX512F, "avx512f"}, {cpu.X86.HasAVX512DQ, "avx512dq"}, {cpu.X86.HasRDSEED, "rdseed"}, {cpu.X86.HasADX, "adx"},
			{cpu.X86.HasAVX512CD, "avx512cd"}, {cpu.X86.HasAVX512BW, "avx512bw"}, {cpu.X86.HasAVX512VL, "avx512vl"}, {cpu.X86.HasAVX512VNNI, "avx512_vnni"}} {
			if f.on {
				flags += " " + f.name
			}
		}
	}
	var b bytes.Buffer
	for i := range max(p.o.CPUs, 1) {
		fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: x86_64\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\napicid\t\t: %d\nfpu\t\t: yes\nflags\t\t: %s\nclflush size\t: 64\naddress sizes\t: 40 bits physical, 48 bits virtual\n\n",
			i, p.o.CPUs, i, p.o.CPUs, i, flags)
	}
	return b.Bytes()
}
