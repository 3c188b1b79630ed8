#include "textflag.h"
#include "offsets.h"

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
