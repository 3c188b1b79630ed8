#include "textflag.h"
#include "offsets.h"

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
	JZ	ring0
	SWAPGS
k:
	MOVUPS	X14, F_X14(AX)
	MOVUPS	X15, F_X15(AX)
	MOVB	$0, F_HOW(AX)
	MOVQ	P_KSP(GS), SP
	MOVQ	P_G(GS), R14
	CLD
	CLAC
	// Is this a fault in core itself?
	CMPQ	F_VECTOR(AX), $32
	JAE	lock
	TESTB	$3, F_CS(AX)
	JNZ	lock
	CMPQ	F_RIP(AX), $SERVICES_BASE
	JB	broken
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
ring0:
	CMPQ	F_RIP(AX), $SERVICES_BASE
	JAE	k
	// In core: is it accessing user memory? See user_amd64.s.
	LEAQ	·userCopy(SB), CX
	CMPQ	F_RIP(AX), CX
	JB	k
	LEAQ	·userFault(SB), CX
	CMPQ	F_RIP(AX), CX
	JAE	k
	MOVQ	F_SP(AX), SP
	JMP	·userFault(SB)
broken:	// no lock: it is held. The stack of the fault stays readable.
	LEAQ	·panicStack+(PANIC_STACK-64)(SB), SP
	LEAQ	·panicG(SB), R14
	MOVQ	AX, BX
	MOVQ	P_SELF(GS), AX
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·crashFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	HLT
	JMP	-1(PC)

// paranoidEntry: NMI, double fault, machine check. They may come anywhere, also
// where GS is still a user's, so GS is not looked at: each has a stack of its
// own in the processor's area, which SP tells. On the way down: 15 registers,
// then X14, X15 and the GS base.
TEXT ·paranoidEntry(SB),NOSPLIT|NOFRAME,$0
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
	MOVQ	SP, BX
	MOVQ	SP, R12
	SUBQ	$112, SP // the lower 64 bytes are for what is called to spill its arguments
	MOVUPS	X14, 64(SP)
	MOVUPS	X15, 80(SP)
	RDGSBASEQ	CX
	MOVQ	CX, 96(SP)
	ANDQ	$~(AREA_SIZE-1), R12
	MOVQ	AREA_SELF(R12), AX
	WRGSBASEQ	AX
	LEAQ	AREA_G_NMI(R12), R14
	CMPQ	F_VECTOR(BX), $2
	JEQ	run
	LEAQ	AREA_G_FAULT(R12), R14
	CMPQ	F_VECTOR(BX), $8
	JEQ	run
	LEAQ	AREA_G_CHECK(R12), R14
run:
	CLD
	CLAC
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·paranoidFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	MOVQ	96(SP), CX
	WRGSBASEQ	CX
	MOVUPS	64(SP), X14
	MOVUPS	80(SP), X15
	ADDQ	$112, SP
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

TEXT ·idleLoop(SB),NOSPLIT|NOFRAME,$0
loop:
	STI
	HLT
	JMP	loop

// panicEntry: kernel/image makes runtime.gopanic, panicBounds, morestack and the
// like CALL this. (SP) = patched function+5, 8(SP) = caller.
TEXT ·panicEntry(SB),NOSPLIT|NOFRAME,$0
	CLI
	MOVQ	0(SP), AX
	MOVQ	8(SP), BX
	MOVQ	BP, CX
	MOVQ	SP, DI
	LEAQ	·panicStack+(PANIC_STACK-64)(SB), SP
	LEAQ	·panicG(SB), R14
	XORPS	X15, X15
	MOVQ	·panicFn(SB), DX
	MOVQ	(DX), SI
	CALL	SI
	HLT
	JMP	-1(PC)

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

// func framePointer() uint64: of the caller.
TEXT ·framePointer(SB),NOSPLIT|NOFRAME,$0-8
	MOVQ	BP, ret+0(FP)
	RET
