package sigframe

import (
	"testing"
	"unsafe"
)

// The expectations are what gcc says of ucontext_t, siginfo_t and struct
// _fpx_sw_bytes with Linux's and glibc's headers.
func TestLayout(t *testing.T) {
	var f Frame
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"sizeof Frame", unsafe.Sizeof(f), FrameSize},
		{"Context", unsafe.Offsetof(f.Context), ContextOffset},
		{"Info", unsafe.Offsetof(f.Info), InfoOffset},
		{"sizeof ucontext_t", unsafe.Sizeof(f.Context), 304},
		{"uc_stack", unsafe.Offsetof(f.Context.Stack), 16},
		{"sizeof stack_t", unsafe.Sizeof(f.Context.Stack), 24},
		{"uc_mcontext", unsafe.Offsetof(f.Context.Registers), 40},
		{"sizeof sigcontext", unsafe.Sizeof(f.Context.Registers), 256},
		{"rdi", unsafe.Offsetof(f.Context.Registers.DI), 64},
		{"rsp", unsafe.Offsetof(f.Context.Registers.SP), 120},
		{"rip", unsafe.Offsetof(f.Context.Registers.IP), 128},
		{"eflags", unsafe.Offsetof(f.Context.Registers.Flags), 136},
		{"cs", unsafe.Offsetof(f.Context.Registers.CS), 144},
		{"ss", unsafe.Offsetof(f.Context.Registers.SS), 150},
		{"cr2", unsafe.Offsetof(f.Context.Registers.CR2), 176},
		{"fpstate", unsafe.Offsetof(f.Context.Registers.FPState), 184},
		{"uc_sigmask", unsafe.Offsetof(f.Context.Mask), 296},
		{"sizeof siginfo_t", unsafe.Sizeof(f.Info), 128},
		{"si_addr", unsafe.Offsetof(f.Info.Fields), 16},
		{"sizeof _fpx_sw_bytes", unsafe.Sizeof(Software{}), 48},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	for sp := uint64(0x7ffd0000); sp < 0x7ffd0100; sp++ {
		image, frame := Place(sp, 832)
		if image%64 != 0 || frame%16 != 8 || image+832+Magic2Size > sp || frame+FrameSize > image {
			t.Fatalf("sp %#x: image %#x, frame %#x", sp, image, frame)
		}
	}
}
