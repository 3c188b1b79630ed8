#include "textflag.h"

// Offsets in Thread, checked by a test.
#define F_R15 0
#define F_R14 8
#define F_R13 16
#define F_R12 24
#define F_BP 32
#define F_BX 40
#define F_R11 48
#define F_R10 56
#define F_R9 64
#define F_R8 72
#define F_AX 80
#define F_CX 88
#define F_DX 96
#define F_SI 104
#define F_DI 112
#define F_RIP 136
#define F_CS 144
#define F_FL 152
#define F_SP 160
#define F_X14 176
#define F_X15 192
#define F_HOW 720

// Offsets in CPU, by way of GS.
#define P_CUR 0
#define P_KSP 8
#define P_SCR 16
#define P_G 24
#define P_SELF 40
#define P_FLUSH 48

// entry64: jumped to by the boot stub, RBX = PVH start info (physical).
TEXT ·entry64(SB),NOSPLIT|NOFRAME,$0
	LEAQ	·stack0+65536(SB), SP
	LEAQ	·cpu0(SB), AX
	MOVL	$1, ·lock(SB)
	MOVQ	SP, P_KSP(AX)
	LEAQ	·g0(SB), R14
	MOVQ	R14, P_G(AX)
	// GS base = &cpu0
	MOVQ	$0xC0000101, CX
	MOVQ	AX, DX
	SHRQ	$32, DX
	WRMSR
	XORPS	X15, X15
	LEAQ	·cpu0(SB), AX
	MOVQ	·bootFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	·resume(SB)

// trapEntry: IDT stubs jump here with vector and error code pushed. All
// gates use IST1, whose TSS slot points at the end of the current
// thread's frame, so SP runs inside the Thread itself.
TEXT ·trapEntry(SB),NOSPLIT|NOFRAME,$0
	PUSHQ	DI
	PUSHQ	SI
	PUSHQ	DX
	PUSHQ	CX
	PUSHQ	AX
	PUSHQ	R8
	PUSHQ	R9
	PUSHQ	R10
	PUSHQ	R11
	PUSHQ	BX
	PUSHQ	BP
	PUSHQ	R12
	PUSHQ	R13
	PUSHQ	R14
	PUSHQ	R15
	MOVQ	SP, AX
	TESTB	$3, F_CS(AX)
	JZ	k
	SWAPGS
k:
	MOVUPS	X14, F_X14(AX)
	MOVUPS	X15, F_X15(AX)
	MOVB	$0, F_HOW(AX)
	MOVQ	P_KSP(GS), SP
	MOVQ	P_G(GS), R14
	// a fault in core itself: keep its stack readable, run on pstack
	CMPQ	120(AX), $32
	JAE	go
	TESTB	$3, F_CS(AX)
	JNZ	go
	CMPQ	F_RIP(AX), $-0x70000000
	JAE	go
	LEAQ	·panicStack+16384(SB), SP
	LEAQ	·panicG(SB), R14
go:
	CLD
	BYTE $0x0f; BYTE $0x01; BYTE $0xca // clac
	// big lock (AX kept)
lock:
	MOVL	$1, CX
	XCHGL	CX, ·lock(SB)
	TESTL	CX, CX
	JZ	got
	CALL	·lockSlow(SB)
got:
	MOVQ	AX, BX
	MOVQ	P_SELF(GS), AX
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·trapFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	·resume(SB)

// resume: continue the current thread from its saved frame.
TEXT ·resume(SB),NOSPLIT|NOFRAME,$0
	MOVQ	P_CUR(GS), AX
	MOVL	$0, ·lock(SB)
	CMPB	F_HOW(AX), $1
	JHI	recv
	MOVUPS	F_X14(AX), X14
	MOVUPS	F_X15(AX), X15
	JEQ	sys
	MOVQ	AX, SP
	TESTB	$3, F_CS(AX)
	JZ	k
	SWAPGS
k:
	POPQ	R15
	POPQ	R14
	POPQ	R13
	POPQ	R12
	POPQ	BP
	POPQ	BX
	POPQ	R11
	POPQ	R10
	POPQ	R9
	POPQ	R8
	POPQ	AX
	POPQ	CX
	POPQ	DX
	POPQ	SI
	POPQ	DI
	ADDQ	$16, SP
	IRETQ
sys:
	MOVQ	F_R15(AX), R15
	MOVQ	F_R14(AX), R14
	MOVQ	F_R13(AX), R13
	MOVQ	F_R12(AX), R12
	MOVQ	F_BP(AX), BP
	MOVQ	F_BX(AX), BX
	MOVQ	F_R10(AX), R10
	MOVQ	F_R9(AX), R9
	MOVQ	F_R8(AX), R8
	MOVQ	F_DX(AX), DX
	MOVQ	F_SI(AX), SI
	MOVQ	F_DI(AX), DI
	MOVQ	F_RIP(AX), CX
	MOVQ	F_FL(AX), R11
	MOVQ	F_SP(AX), SP
	TESTB	$3, F_CS(AX)
	JZ	sys0
	MOVQ	F_AX(AX), AX
	SWAPGS
	BYTE $0x48; BYTE $0x0f; BYTE $0x07 // sysretq
sys0:
	MOVQ	F_AX(AX), AX
	STI
	JMP	CX
recv: // ring-0 handler blocked in recv: only the registers its stub needs
	MOVQ	F_R14(AX), R14
	MOVQ	F_BP(AX), BP
	MOVQ	F_RIP(AX), CX
	MOVQ	F_SP(AX), SP
	MOVQ	F_AX(AX), AX
	STI
	JMP	CX

// syscallEntry: MSR_LSTAR. Ring-0 callers (services) are told apart by the
// sign of the return address; they keep the kernel GS base, so no SWAPGS.
TEXT ·syscallEntry(SB),NOSPLIT|NOFRAME,$0
	TESTQ	CX, CX
	JS	k
	SWAPGS
k:
	MOVQ	SP, P_SCR(GS)
	MOVQ	P_CUR(GS), SP
	MOVQ	AX, F_AX(SP)
	MOVQ	CX, F_RIP(SP)
	MOVQ	R11, F_FL(SP)
	MOVQ	DI, F_DI(SP)
	MOVQ	SI, F_SI(SP)
	MOVQ	DX, F_DX(SP)
	MOVQ	R10, F_R10(SP)
	MOVQ	R8, F_R8(SP)
	MOVQ	R9, F_R9(SP)
	MOVQ	BX, F_BX(SP)
	MOVQ	BP, F_BP(SP)
	MOVQ	R12, F_R12(SP)
	MOVQ	R13, F_R13(SP)
	MOVQ	R14, F_R14(SP)
	MOVQ	R15, F_R15(SP)
	MOVUPS	X14, F_X14(SP)
	MOVUPS	X15, F_X15(SP)
	MOVB	$1, F_HOW(SP)
	MOVQ	P_SCR(GS), CX
	MOVQ	CX, F_SP(SP)
	MOVQ	SP, AX
	MOVQ	P_KSP(GS), SP
	MOVQ	P_G(GS), R14
	// big lock (AX kept)
lock:
	MOVL	$1, CX
	XCHGL	CX, ·lock(SB)
	TESTL	CX, CX
	JZ	got
	CALL	·lockSlow(SB)
got:
	MOVQ	AX, BX
	MOVQ	P_SELF(GS), AX
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·syscallFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	·resume(SB)

TEXT ·idleLoop(SB),NOSPLIT|NOFRAME,$0
loop:
	STI
	HLT
	JMP	loop

// panicEntry: mkkernel patches runtime.gopanic, panicBounds, morestack,
// newobject, ... to CALL this. (SP) = patched function+5, 8(SP) = caller.
TEXT ·panicEntry(SB),NOSPLIT|NOFRAME,$0
	CLI
	MOVQ	0(SP), AX
	MOVQ	8(SP), BX
	MOVQ	BP, CX
	MOVQ	SP, DI
	LEAQ	·panicStack+16384(SB), SP
	LEAQ	·panicG(SB), R14
	XORPS	X15, X15
	MOVQ	·panicFn(SB), DX
	MOVQ	(DX), SI
	CALL	SI
	HLT
	JMP	-1(PC)

// recvEntry: services CALLs here (ring 0, same address space) instead of
// SYSCALL; DI = reply. Keeps only what a Go call keeps: SP, BP, R14.
TEXT ·recvEntry(SB),NOSPLIT|NOFRAME,$0
	CLI
	MOVQ	P_CUR(GS), AX
	MOVQ	(SP), CX
	MOVQ	CX, F_RIP(AX)
	LEAQ	8(SP), CX
	MOVQ	CX, F_SP(AX)
	MOVQ	BP, F_BP(AX)
	MOVQ	R14, F_R14(AX)
	MOVQ	DI, F_DI(AX)
	MOVB	$2, F_HOW(AX)
	MOVQ	P_KSP(GS), SP
	MOVQ	P_G(GS), R14
	// big lock (AX kept)
lock:
	MOVL	$1, CX
	XCHGL	CX, ·lock(SB)
	TESTL	CX, CX
	JZ	got
	CALL	·lockSlow(SB)
got:
	MOVQ	AX, BX
	MOVQ	P_SELF(GS), AX
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·recvFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	·resume(SB)

// lockSlow: spin for the lock, honouring TLB flush requests. Uses CX only.
TEXT ·lockSlow(SB),NOSPLIT|NOFRAME,$0
spin:
	CMPQ	P_FLUSH(GS), $0
	JEQ	nf
	MOVQ	CR3, CX
	MOVQ	CX, CR3
	MOVQ	$0, P_FLUSH(GS)
nf:
	PAUSE
	CMPL	·lock(SB), $0
	JNE	spin
	MOVL	$1, CX
	XCHGL	CX, ·lock(SB)
	TESTL	CX, CX
	JNZ	spin
	RET

// func symbols() (syscallEntry, idleLoop, text, end uint64)
TEXT ·symbols(SB),NOSPLIT,$0-32
	LEAQ	·syscallEntry(SB), AX
	MOVQ	AX, sysEntry+0(FP)
	LEAQ	·idleLoop(SB), AX
	MOVQ	AX, idle+8(FP)
	LEAQ	runtime·text(SB), AX
	MOVQ	AX, text+16(FP)
	LEAQ	runtime·end(SB), AX
	MOVQ	AX, end+24(FP)
	LEAQ	·trapEntry(SB), AX // keep what only the image refers to
	LEAQ	·panicEntry(SB), AX
	LEAQ	·recvEntry(SB), AX
	MOVQ	AX, ·recvAddr(SB)
	RET
