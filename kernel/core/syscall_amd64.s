#include "go_asm.h"
#include "textflag.h"

// Offsets in Thread of what abi.Request begins with: see kernel/abi.Frame.
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
#define F_IP 136
#define F_CS 144
#define F_FL 152
#define F_SP 160
#define F_PID 180

// X14 and X15 in the XSAVE image: what core's compiled code uses.
#define F_X14 (const_xsaveOffset+160+14*16)
#define F_X15 (const_xsaveOffset+160+15*16)

#define SYSRETQ BYTE $0x48; BYTE $0x0f; BYTE $0x07

// resume: continue the processor's current thread from what is saved of it,
// after doing the work that it has.
TEXT ·resume(SB),NOSPLIT|NOFRAME,$0
again:
	MOVQ	CPU_cur(GS), AX
	CMPL	Thread_work(AX), $0
	JNE	work
	MOVL	$0, ·lock(SB)
	CMPB	Thread_how(AX), $const_howSyscall
	JHI	receive
	MOVUPS	F_X14(AX), X14
	MOVUPS	F_X15(AX), X15
	JEQ	syscall
	MOVQ	AX, SP
	TESTB	$3, F_CS(AX)
	JZ	kernel
	SWAPGS
kernel:
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
	ADDQ	$16, SP // vector, error
	IRETQ
syscall:
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
	MOVQ	F_IP(AX), CX
	MOVQ	F_SP(AX), SP
	TESTB	$3, F_CS(AX)
	JZ	services
	MOVQ	F_FL(AX), R11
	MOVQ	F_AX(AX), AX
	SWAPGS
	SYSRETQ // IP is as SYSCALL left it, so below the canonical hole
services:
	MOVQ	F_AX(AX), AX
	STI // takes effect behind the jump
	JMP	CX
receive:
	MOVQ	F_R14(AX), R14
	MOVQ	F_BP(AX), BP
	MOVQ	F_IP(AX), CX
	MOVQ	F_SP(AX), SP
	MOVQ	F_AX(AX), AX
	STI
	JMP	CX
work:
	MOVQ	AX, BX
	MOVQ	CPU_self(GS), AX
	MOVQ	·workFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	again

// ENTER saves the caller's registers in its Thread, takes the lock and calls
// the Go function behind fn.
#define ENTER(fn) \
	MOVQ SP, CPU_scratch(GS); \
	MOVQ CPU_cur(GS), SP; \
	MOVQ AX, F_AX(SP); \
	MOVQ AX, Thread_call(SP); \
	MOVQ CX, F_IP(SP); \
	MOVQ R11, F_FL(SP); \
	MOVQ DI, F_DI(SP); \
	MOVQ SI, F_SI(SP); \
	MOVQ DX, F_DX(SP); \
	MOVQ R10, F_R10(SP); \
	MOVQ R8, F_R8(SP); \
	MOVQ R9, F_R9(SP); \
	MOVQ BX, F_BX(SP); \
	MOVQ BP, F_BP(SP); \
	MOVQ R12, F_R12(SP); \
	MOVQ R13, F_R13(SP); \
	MOVQ R14, F_R14(SP); \
	MOVQ R15, F_R15(SP); \
	MOVUPS X14, F_X14(SP); \
	MOVUPS X15, F_X15(SP); \
	MOVB $const_howSyscall, Thread_how(SP); \
	MOVQ CPU_scratch(GS), CX; \
	MOVQ CX, F_SP(SP); \
	MOVQ SP, BX; \
	MOVQ CPU_stack(GS), SP; \
	MOVQ CPU_g(GS), R14; \
	MOVL $1, CX; \
	XCHGL CX, ·lock(SB); \
	TESTL CX, CX; \
	JZ 2(PC); \
	CALL ·lockSlow(SB); \
	MOVQ CPU_self(GS), AX; \
	XORPS X15, X15; \
	XORL BP, BP; \
	MOVQ fn, DX; \
	MOVQ (DX), CX; \
	CALL CX; \
	JMP ·resume(SB)

// syscallEntry: MSR_LSTAR. Callers in ring 0 (services) are told apart by the
// sign of the return address; they keep the kernel's GS base, so no SWAPGS.
// getppid and getpid are answered here, without the lock: nothing but the
// thread itself writes what they read.
TEXT ·syscallEntry(SB),NOSPLIT|NOFRAME,$0
	TESTQ	CX, CX
	JS	enter
	SWAPGS
	CMPL	AX, $110
	JEQ	getppid
	CMPL	AX, $39
	JEQ	getpid
enter:
	ENTER(·syscallFn(SB))
getppid:
	MOVQ	CPU_cur(GS), AX
	INCQ	Thread_leaves(AX)
	MOVLQZX	Thread_parent(AX), AX
	SWAPGS
	SYSRETQ
getpid:
	MOVQ	CPU_cur(GS), AX
	INCQ	Thread_leaves(AX)
	MOVLQZX	F_PID(AX), AX
	SWAPGS
	SYSRETQ

// syscallEntryTraced is syscallEntry without the leaf calls, for strace=1 and
// acct=full.
TEXT ·syscallEntryTraced(SB),NOSPLIT|NOFRAME,$0
	TESTQ	CX, CX
	JS	enter
	SWAPGS
enter:
	ENTER(·tracedFn(SB))

// receiveEntry: services CALL here (ring 0, the same address space) instead of
// SYSCALL for Receive; DI is the action. Keeps what a Go call keeps: SP, BP,
// R14.
TEXT ·receiveEntry(SB),NOSPLIT|NOFRAME,$0
	CLI
	MOVQ	CPU_cur(GS), BX
	MOVQ	(SP), CX
	MOVQ	CX, F_IP(BX)
	LEAQ	8(SP), CX
	MOVQ	CX, F_SP(BX)
	MOVQ	BP, F_BP(BX)
	MOVQ	R14, F_R14(BX)
	MOVQ	DI, F_DI(BX)
	MOVQ	CPU_stack(GS), SP
	MOVQ	CPU_g(GS), R14
	MOVL	$1, CX
	XCHGL	CX, ·lock(SB)
	TESTL	CX, CX
	JZ	locked
	CALL	·lockSlow(SB)
locked:
	MOVQ	CPU_self(GS), AX
	XORPS	X15, X15
	XORL	BP, BP
	MOVQ	·receiveFn(SB), DX
	MOVQ	(DX), CX
	CALL	CX
	JMP	·resume(SB)

// func tracedEntry() uint64: the address of syscallEntryTraced.
TEXT ·tracedEntry(SB),NOSPLIT,$0-8
	LEAQ	·syscallEntryTraced(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
