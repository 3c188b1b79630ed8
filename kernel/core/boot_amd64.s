#include "textflag.h"
#include "offsets.h"

// entry64: jumped to by the boot stub, RBX = PVH start info (physical), on the
// boot page tables.
TEXT ·entry64(SB),NOSPLIT|NOFRAME,$0
	MOVQ	$BOOT_PML4, AX
	MOVQ	AX, CR3
	LEAQ	·area0+(AREA_SIZE-1)(SB), AX
	ANDQ	$~(AREA_SIZE-1), AX
	LEAQ	(AREA_SIZE-64)(AX), SP // above it Go functions spill their arguments
	LEAQ	AREA_G(AX), R14
	MOVQ	AX, R12
	ADDQ	$AREA_CPU, AX
	MOVQ	SP, P_KSP(AX)
	MOVQ	R14, P_G(AX)
	MOVQ	AX, P_SELF(AX)
	MOVL	$1, ·lock(SB)
	// GS base = the CPU
	MOVQ	AX, R13
	MOVQ	$0xC0000101, CX
	MOVQ	AX, DX
	SHRQ	$32, DX
	WRMSR
	XORPS	X15, X15
	MOVQ	R13, AX
	MOVQ	R12, CX
	MOVQ	·bootFn(SB), DX
	MOVQ	(DX), SI
	CALL	SI
	JMP	·resume(SB)

// apEntry: another processor, from the trampoline, on the boot page tables,
// without a stack. startArea is its area; it is the only one on its way.
TEXT ·apEntry(SB),NOSPLIT|NOFRAME,$0
	MOVQ	$BOOT_PML4, AX
	MOVQ	AX, CR3
	XORL	AX, AX
	XCHGQ	AX, ·startArea(SB) // taken
	TESTQ	AX, AX
	JNZ	first
	CLI // too late: nobody waits any more
	HLT
	JMP	-1(PC)
first:
	LEAQ	(AREA_SIZE-64)(AX), SP // above it Go functions spill their arguments
	LEAQ	AREA_G(AX), R14
	ADDQ	$AREA_CPU, AX
	MOVQ	SP, P_KSP(AX)
	MOVQ	R14, P_G(AX)
	MOVQ	AX, P_SELF(AX)
	MOVQ	AX, R13
	MOVQ	$0xC0000101, CX
	MOVQ	AX, DX
	SHRQ	$32, DX
	WRMSR
	CALL	·lockSlow(SB)
	XORPS	X15, X15
	MOVQ	R13, AX
	MOVQ	·apFn(SB), DX
	MOVQ	(DX), SI
	CALL	SI
	JMP	·resume(SB)

// func loadTables(gdtr, tss uint64): this processor's own GDT and TSS. The
// data segments are the same in every GDT.
TEXT ·loadTables(SB),NOSPLIT,$0-16
	MOVQ	gdtr+0(FP), AX
	LGDT	(AX)
	MOVQ	tss+8(FP), AX
	LTR	AX
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
	LEAQ	·paranoidEntry(SB), AX
	LEAQ	·panicEntry(SB), AX
	LEAQ	·apEntry(SB), AX
	LEAQ	·receiveEntry(SB), AX
	MOVQ	AX, ·receiveAddr(SB)
	RET
