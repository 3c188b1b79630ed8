// Package sigframe is the layout of what a signal handler finds on its stack
// on x86_64 Linux (struct rt_sigframe of arch/x86, ucontext_t, siginfo_t of
// sigaction(2)), and where it goes.
package sigframe

// Frame is what the stack pointer points at when the handler starts. The
// XSAVE image lies above it.
type Frame struct {
	Return  uint64 // sa_restorer, where the handler returns to
	Context Context
	Info    Info
}

// Context is ucontext_t.
type Context struct {
	Flags, Link uint64
	Stack       Stack
	Registers   Registers
	Mask        uint64
}

// Stack is stack_t.
type Stack struct {
	Pointer uint64
	Flags   int32
	_       int32
	Size    uint64
}

// Registers is struct sigcontext.
type Registers struct {
	R8, R9, R10, R11, R12, R13, R14, R15 uint64
	DI, SI, BP, BX, DX, AX, CX, SP, IP   uint64
	Flags                                uint64
	CS, GS, FS, SS                       uint16
	Error, Trap, OldMask, CR2            uint64
	FPState                              uint64 // address of the XSAVE image
	_                                    [8]uint64
}

// Info is siginfo_t: the meaning of Fields depends on the signal and Code.
type Info struct {
	Signo, Errno, Code int32
	_                  int32
	Fields             [14]uint64
}

// ContextFlags of a frame with an XSAVE image (uapi/asm/ucontext.h):
// UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS.
const ContextFlags = 7

// Sizes and offsets in bytes.
const (
	FrameSize     = 440
	ContextOffset = 8
	InfoOffset    = 312

	// RedZone below the stack pointer belongs to the interrupted function
	// (System V ABI, 3.2.2).
	RedZone = 128
)

// Software-reserved bytes of the XSAVE image's legacy region tell its size
// (struct _fpx_sw_bytes), and a magic word follows the image.
const (
	SoftwareOffset = 464
	Magic1         = 0x46505853
	Magic2         = 0x46505845
	Magic2Size     = 4
)

// Software is what lies at SoftwareOffset.
type Software struct {
	Magic1       uint32
	ExtendedSize uint32 // image and Magic2
	Features     uint64 // XCR0's bits in the image
	StateSize    uint32 // the image
	_            [7]uint32
}

// Place is where a frame for an image of n bytes goes below the stack pointer
// sp: the address of the image, which is 64-byte aligned, and of the Frame,
// which is at 8 modulo 16 as at any function's entry.
func Place(sp, n uint64) (image, frame uint64) {
	image = (sp - n - Magic2Size) &^ 63
	frame = (image-FrameSize)&^15 - 8
	return image, frame
}
