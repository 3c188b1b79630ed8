//go:build amd64

package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"unsafe"
)

// TestOffsets compares offsets.h and the definitions in syscall_amd64.s, which
// assembly uses, with the structs. The rest of the assembly takes what it needs
// from go_asm.h.
func TestOffsets(t *testing.T) {
	var th Thread
	var c CPU
	xmm := func(n uintptr) uintptr { return unsafe.Offsetof(th.xsave) + 160 + 16*n }
	want := map[string]uintptr{
		"F_R15": unsafe.Offsetof(th.R15), "F_R14": unsafe.Offsetof(th.R14), "F_R13": unsafe.Offsetof(th.R13), "F_R12": unsafe.Offsetof(th.R12),
		"F_BP": unsafe.Offsetof(th.BP), "F_BX": unsafe.Offsetof(th.BX), "F_R11": unsafe.Offsetof(th.R11), "F_R10": unsafe.Offsetof(th.R10),
		"F_R9": unsafe.Offsetof(th.R9), "F_R8": unsafe.Offsetof(th.R8), "F_AX": unsafe.Offsetof(th.AX), "F_CX": unsafe.Offsetof(th.CX),
		"F_DX": unsafe.Offsetof(th.DX), "F_SI": unsafe.Offsetof(th.SI), "F_DI": unsafe.Offsetof(th.DI), "F_VECTOR": unsafe.Offsetof(th.Vector),
		"F_RIP": unsafe.Offsetof(th.IP), "F_IP": unsafe.Offsetof(th.IP), "F_CS": unsafe.Offsetof(th.CS), "F_FL": unsafe.Offsetof(th.Flags),
		"F_SP": unsafe.Offsetof(th.SP), "F_X14": xmm(14), "F_X15": xmm(15), "F_HOW": unsafe.Offsetof(th.how), "F_PID": unsafe.Offsetof(th.PID),
		"P_CUR": unsafe.Offsetof(c.cur), "P_KSP": unsafe.Offsetof(c.stack), "P_SCR": unsafe.Offsetof(c.scratch), "P_G": unsafe.Offsetof(c.g),
		"P_SELF": unsafe.Offsetof(c.self), "P_FLUSH": unsafe.Offsetof(c.flush),
	}
	define := regexp.MustCompile(`(?m)^#define ([FP]_\w+) (0x[0-9a-f]+|\d+)$`)
	seen := map[string]bool{}
	for _, file := range []string{"offsets.h", "syscall_amd64.s"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range define.FindAllStringSubmatch(string(text), -1) {
			v, err := strconv.ParseUint(m[2], 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			offset, ok := want[m[1]]
			if !ok {
				t.Errorf("%s: %s is not checked", file, m[1])
			} else if uintptr(v) != offset {
				t.Errorf("%s: %s is %d, the field is at %d", file, m[1], v, offset)
			}
			seen[m[1]] = true
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d definitions were found", len(seen))
	}
	if a := unsafe.Offsetof(th.xsave); a%64 != 0 {
		t.Errorf("xsave is at %d", a)
	}
	if s := unsafe.Sizeof(th); s > 4000 {
		t.Errorf("a Thread of %d bytes leaves the idle thread no stack", s)
	}
}
