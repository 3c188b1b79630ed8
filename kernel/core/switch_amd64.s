#include "go_asm.h"
#include "textflag.h"

#define XSAVE const_xsaveOffset
#define FCW (XSAVE+0)
#define MXCSR (XSAVE+24)
#define XMM(n) (XSAVE+160+16*n)
#define YMM15H (XSAVE+576+16*15)

#define FNSTENV_SP BYTE $0xd9; BYTE $0x34; BYTE $0x24 // FNSTENV (SP)
#define FLDENV_SP BYTE $0xd9; BYTE $0x24; BYTE $0x24 // FLDENV (SP)

// X0 to X13; X14 and X15 are saved and loaded with the general registers.
#define SAVEXMM(t) \
	MOVUPS X0, XMM(0)(t); \
	MOVUPS X1, XMM(1)(t); \
	MOVUPS X2, XMM(2)(t); \
	MOVUPS X3, XMM(3)(t); \
	MOVUPS X4, XMM(4)(t); \
	MOVUPS X5, XMM(5)(t); \
	MOVUPS X6, XMM(6)(t); \
	MOVUPS X7, XMM(7)(t); \
	MOVUPS X8, XMM(8)(t); \
	MOVUPS X9, XMM(9)(t); \
	MOVUPS X10, XMM(10)(t); \
	MOVUPS X11, XMM(11)(t); \
	MOVUPS X12, XMM(12)(t); \
	MOVUPS X13, XMM(13)(t)

#define LOADXMM(t) \
	MOVUPS XMM(0)(t), X0; \
	MOVUPS XMM(1)(t), X1; \
	MOVUPS XMM(2)(t), X2; \
	MOVUPS XMM(3)(t), X3; \
	MOVUPS XMM(4)(t), X4; \
	MOVUPS XMM(5)(t), X5; \
	MOVUPS XMM(6)(t), X6; \
	MOVUPS XMM(7)(t), X7; \
	MOVUPS XMM(8)(t), X8; \
	MOVUPS XMM(9)(t), X9; \
	MOVUPS XMM(10)(t), X10; \
	MOVUPS XMM(11)(t), X11; \
	MOVUPS XMM(12)(t), X12; \
	MOVUPS XMM(13)(t), X13

// TESTREST sets ZF if the x87 unit is empty with nothing pending and no upper
// half of a vector register is in use; else it jumps to rest, or goes on with
// ZF clear when only upper halves are. 28 bytes at SP are scratch and hold the
// x87 environment, the upper half of Y15 is in the xsave of the thread in DX.
// Changes CX, SI, Y15: the lower half of Y15 is core's, the thread's own was
// saved on entry.
//
// FNSTENV masks all exceptions: who goes on with the state loads it again.
#define TESTREST(rest, clean) \
	FNSTENV_SP; \
	MOVL 4(SP), CX; \
	MOVL 8(SP), SI; \
	ANDL $0xffff, CX; \
	ORL $0xffff0000, SI; \
	NOTL SI; \
	ORL SI, CX; \
	JNZ rest; \
	MOVW 0(SP), CX; \
	MOVW CX, FCW(DX); \
	CMPB ·hasAVX(SB), $1; \
	JLT clean; \
	JGT rest; \
	VEXTRACTF128 $1, Y15, YMM15H(DX); \
	VORPS Y0, Y1, Y15; \
	VORPS Y2, Y15, Y15; \
	VORPS Y3, Y15, Y15; \
	VORPS Y4, Y15, Y15; \
	VORPS Y5, Y15, Y15; \
	VORPS Y6, Y15, Y15; \
	VORPS Y7, Y15, Y15; \
	VORPS Y8, Y15, Y15; \
	VORPS Y9, Y15, Y15; \
	VORPS Y10, Y15, Y15; \
	VORPS Y11, Y15, Y15; \
	VORPS Y12, Y15, Y15; \
	VORPS Y13, Y15, Y15; \
	VORPS Y14, Y15, Y15; \
	VEXTRACTF128 $1, Y15, X15; \
	VORPS YMM15H(DX), X15, X15; \
	VPTEST X15, X15


// ·saveState: the state of the thread in DX, which is live in the processor, goes
// to its xsave, and fp says how much that was. It is not in the processor any
// more as far as X14 and X15 go. Changes AX, CX, SI, DI, X14, X15.
TEXT ·saveState(SB),NOSPLIT|NOFRAME,$0
	SUBQ	$32, SP
	STMXCSR	MXCSR(DX)
	SAVEXMM(DX)
	TESTREST(rest, light)
	JNZ	upper
light:
	MOVB	$const_fpLight, Thread_fp(DX)
	MOVB	$0, CPU_fpDirty(GS)
	ADDQ	$32, SP
	RET
upper:
	MOVUPS	XMM(15)(DX), X15
	VINSERTF128	$1, YMM15H(DX), Y15, Y15
rest:
	FLDENV_SP
	CALL	·saveAll(SB)
	ADDQ	$32, SP
	RET

// ·saveAll: the complete state of the thread in DX goes to its xsave and stays
// in the processor. Changes AX, CX, SI, DI, X14, X15 to zero.
TEXT ·saveAll(SB),NOSPLIT|NOFRAME,$0
	MOVB	$const_fpFull, Thread_fp(DX)
	MOVB	$1, CPU_fpDirty(GS)
	CMPB	·hasAVX(SB), $0
	JEQ	legacy
	MOVUPS	XMM(14)(DX), X14 // core has used them since the entry
	MOVUPS	XMM(15)(DX), X15
	LEAQ	XSAVE(DX), DI
	MOVQ	DX, SI
	MOVL	·xfeatures(SB), AX
	MOVL	·xfeatures+4(SB), DX
	XSAVE64	(DI)
	MOVQ	SI, DX
	XORPS	X15, X15
	RET
legacy:
	// FXSAVE would overwrite X14 and X15.
	MOVUPS	XMM(14)(DX), X14
	MOVUPS	XMM(15)(DX), X15
	FXSAVE64	XSAVE(DX)
	XORPS	X15, X15
	RET

// ·cleanState: x87 and upper halves become as after a reset. Changes AX, CX, DX,
// DI.
TEXT ·cleanState(SB),NOSPLIT|NOFRAME,$0
	MOVB	$0, CPU_fpDirty(GS)
	CMPB	·hasAVX(SB), $0
	JEQ	legacy
	MOVQ	·initialState(SB), DI
	MOVL	·xfeatures(SB), AX
	MOVL	·xfeatures+4(SB), DX
	ANDL	$~2, AX // not X0 to X15
	XRSTOR64	(DI)
	RET
legacy:
	BYTE	$0xdb; BYTE $0xe3 // FNINIT
	RET

// ·loadState: the state in the xsave of the thread in DX comes to life. Changes
// AX, CX, SI, DI.
TEXT ·loadState(SB),NOSPLIT|NOFRAME,$0
	CMPB	Thread_fp(DX), $const_fpLight
	MOVB	$const_fpLive, Thread_fp(DX)
	JHI	whole
	CMPB	CPU_fpDirty(GS), $0
	JEQ	light
	MOVQ	DX, SI
	CALL	·cleanState(SB)
	MOVQ	SI, DX
light:
	FLDCW	FCW(DX)
	LDMXCSR	MXCSR(DX)
	LOADXMM(DX)
	RET
whole:
	CMPB	·hasAVX(SB), $0
	JEQ	legacy
	LEAQ	XSAVE(DX), DI
	MOVQ	DX, SI
	MOVL	·xfeatures(SB), AX
	MOVL	·xfeatures+4(SB), DX
	XRSTOR64	(DI)
	MOVQ	SI, DX
	XORPS	X15, X15
	RET
legacy:
	FXRSTOR64	XSAVE(DX)
	XORPS	X15, X15
	RET

// A program's GS base is in MSR_KERNEL_GS_BASE while core runs. An NMI between
// the two SWAPGS finds GS by its stack.
#define SAVEGS(t) \
	SWAPGS; \
	RDGSBASEQ CX; \
	SWAPGS; \
	MOVQ CX, Thread_gs(t)

#define LOADGS(t) \
	MOVQ Thread_gs(t), CX; \
	SWAPGS; \
	WRGSBASEQ CX; \
	SWAPGS

// func switchFP(old, new *Thread)
//
// Saves old's vector state and FS and GS bases if they are live, and brings new's to
// life if it has any.
TEXT ·switchFP(SB),NOSPLIT,$0-16
	MOVQ	old+0(FP), DX
	CMPB	Thread_fp(DX), $const_fpLive
	JNE	in
	RDFSBASEQ	CX
	MOVQ	CX, Thread_fs(DX)
	SAVEGS(DX)
	CALL	·saveState(SB)
in:
	MOVQ	new+8(FP), DX
	MOVQ	Thread_fs(DX), CX
	WRFSBASEQ	CX
	LOADGS(DX)
	CMPB	Thread_fp(DX), $const_fpLight
	JCS	none
	CALL	·loadState(SB)
	RET
none:
	// A handler that begins or was kicked: only MXCSR matters to it.
	MOVQ	·initialState(SB), CX
	LDMXCSR	24(CX)
	MOVB	$const_fpLive, Thread_fp(DX)
	RET

// func saveFull(t *Thread)
//
// The complete live state of t, which runs, into its xsave; it stays live.
TEXT ·saveFull(SB),NOSPLIT,$0-8
	MOVQ	t+0(FP), DX
	CALL	·saveAll(SB)
	MOVB	$const_fpLive, Thread_fp(DX)
	RET

// func loadFull(t *Thread)
//
// Makes what is in t's xsave, in XSAVE's layout, the live state of t.
TEXT ·loadFull(SB),NOSPLIT,$0-8
	MOVQ	t+0(FP), DX
	MOVB	$const_fpFull, Thread_fp(DX)
	CALL	·loadState(SB)
	RET

// func saveRest(t *Thread)
//
// t's X0 to X15 and MXCSR are in its xsave, the rest rides in the processor:
// it goes to xsave too. For a request that is parked.
TEXT ·saveRest(SB),NOSPLIT,$32-8
	MOVQ	t+0(FP), DX
	TESTREST(rest, light)
	JNZ	upper
light:
	MOVB	$const_fpLight, Thread_fp(DX)
	MOVB	$0, CPU_fpDirty(GS)
	RET
upper:
	// Only the half of Y15 was changed, and it is in memory; it goes back for
	// XSAVE.
	VINSERTF128	$1, YMM15H(DX), Y15, Y15
rest:
	FLDENV_SP
	MOVB	$const_fpFull, Thread_fp(DX)
	MOVB	$1, CPU_fpDirty(GS)
	LOADXMM(DX) // X0 to X13 are the handler's
	LDMXCSR	MXCSR(DX)
	CALL	·saveAll(SB)
	MOVQ	·initialState(SB), CX
	LDMXCSR	24(CX)
	RET

// func forwardFP(t, h *Thread)
//
// From a caller to the handler that gets its request, which keeps no vector
// registers: X0 to X13, MXCSR and the FS and GS bases of t are saved, the rest rides
// along.
TEXT ·forwardFP(SB),NOSPLIT,$0-16
	MOVQ	t+0(FP), DX
	MOVQ	h+8(FP), AX
	RDFSBASEQ	CX
	MOVQ	CX, Thread_fs(DX)
	SAVEGS(DX)
	MOVQ	Thread_fs(AX), CX
	WRFSBASEQ	CX
	MOVB	$const_fpRiding, Thread_fp(DX)
	MOVB	$const_fpLive, Thread_fp(AX)
	STMXCSR	MXCSR(DX)
	SAVEXMM(DX)
	CMPL	MXCSR(DX), $0x1f80
	JNE	mxcsr
	RET
mxcsr:
	MOVQ	·initialState(SB), CX
	LDMXCSR	24(CX)
	RET

// func replyFP(t *Thread)
//
// From a handler back to the caller whose request it has served.
TEXT ·replyFP(SB),NOSPLIT,$0-8
	MOVQ	t+0(FP), DX
	MOVQ	Thread_fs(DX), CX
	WRFSBASEQ	CX
	LOADGS(DX)
	MOVB	$const_fpLive, Thread_fp(DX)
	CMPL	MXCSR(DX), $0x1f80
	JNE	mxcsr
	LOADXMM(DX)
	RET
mxcsr:
	LDMXCSR	MXCSR(DX)
	LOADXMM(DX)
	RET

// func readGS() uint64: the GS base of the program that entered core.
TEXT ·readGS(SB),NOSPLIT,$0-8
	SWAPGS
	RDGSBASEQ	CX
	SWAPGS
	MOVQ	CX, ret+0(FP)
	RET

// func writeGS(v uint64)
TEXT ·writeGS(SB),NOSPLIT,$0-8
	MOVQ	v+0(FP), CX
	SWAPGS
	WRGSBASEQ	CX
	SWAPGS
	RET
