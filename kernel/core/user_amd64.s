#include "go_asm.h"
#include "textflag.h"

#define STAC BYTE $0x0f; BYTE $0x01; BYTE $0xcb
#define CLAC BYTE $0x0f; BYTE $0x01; BYTE $0xca

// Access to user memory where it lies. A fault must not push its frame into
// the current thread, whose registers are there: IST1 points at the
// processor's own faultFrame meanwhile, and trapEntry goes on at userFault
// when IP is between userCopy and userFault. R10 is the TSS, R11 what its IST1
// was. All functions here have the same first four arguments and ok behind
// them, which is what userFault sets.
#define ENTER \
	MOVQ	c+0(FP), R9; \
	MOVQ	CPU_tss(R9), R10; \
	MOVQ	0x24(R10), R11; \
	LEAQ	(CPU_faultFrame+192)(R9), R9; \
	MOVQ	R9, 0x24(R10); \
	STAC

#define LEAVE \
	CLAC; \
	MOVQ	R11, 0x24(R10)

// func userCopy(c *CPU, dst, src, n uint64) (ok uint64)
//
// Uses X14 and X15 only, which the entry has saved.
TEXT ·userCopy(SB),NOSPLIT|NOFRAME,$0-40
	MOVQ	dst+8(FP), DI
	MOVQ	src+16(FP), SI
	MOVQ	n+24(FP), BX
	ENTER
	MOVQ	BX, CX
	SHRQ	$8, CX
	JZ	words
blocks:
	MOVUPS	0(SI), X14
	MOVUPS	16(SI), X15
	MOVUPS	X14, 0(DI)
	MOVUPS	X15, 16(DI)
	MOVUPS	32(SI), X14
	MOVUPS	48(SI), X15
	MOVUPS	X14, 32(DI)
	MOVUPS	X15, 48(DI)
	MOVUPS	64(SI), X14
	MOVUPS	80(SI), X15
	MOVUPS	X14, 64(DI)
	MOVUPS	X15, 80(DI)
	MOVUPS	96(SI), X14
	MOVUPS	112(SI), X15
	MOVUPS	X14, 96(DI)
	MOVUPS	X15, 112(DI)
	MOVUPS	128(SI), X14
	MOVUPS	144(SI), X15
	MOVUPS	X14, 128(DI)
	MOVUPS	X15, 144(DI)
	MOVUPS	160(SI), X14
	MOVUPS	176(SI), X15
	MOVUPS	X14, 160(DI)
	MOVUPS	X15, 176(DI)
	MOVUPS	192(SI), X14
	MOVUPS	208(SI), X15
	MOVUPS	X14, 192(DI)
	MOVUPS	X15, 208(DI)
	MOVUPS	224(SI), X14
	MOVUPS	240(SI), X15
	MOVUPS	X14, 224(DI)
	MOVUPS	X15, 240(DI)
	ADDQ	$256, SI
	ADDQ	$256, DI
	DECQ	CX
	JNZ	blocks
words:
	MOVQ	BX, CX
	ANDQ	$255, CX
	SHRQ	$3, CX
	JZ	rest
word:
	MOVQ	(SI), AX
	MOVQ	AX, (DI)
	ADDQ	$8, SI
	ADDQ	$8, DI
	DECQ	CX
	JNZ	word
rest:
	ANDQ	$7, BX
	JZ	done
byte:
	MOVB	(SI), AX
	MOVB	AX, (DI)
	INCQ	SI
	INCQ	DI
	DECQ	BX
	JNZ	byte
done:
	LEAVE
	MOVQ	$1, ok+32(FP)
	RET

// func userLoad32(c *CPU, addr, _, _ uint64) (ok, v uint64)
TEXT ·userLoad32(SB),NOSPLIT|NOFRAME,$0-48
	MOVQ	addr+8(FP), SI
	ENTER
	MOVL	(SI), AX
	LEAVE
	MOVQ	$1, ok+32(FP)
	MOVQ	AX, v+40(FP)
	RET

// func userLoad64(c *CPU, addr, _, _ uint64) (ok, v uint64)
TEXT ·userLoad64(SB),NOSPLIT|NOFRAME,$0-48
	MOVQ	addr+8(FP), SI
	ENTER
	MOVQ	(SI), AX
	LEAVE
	MOVQ	$1, ok+32(FP)
	MOVQ	AX, v+40(FP)
	RET

// func userStore64(c *CPU, addr, v, _ uint64) (ok uint64)
TEXT ·userStore64(SB),NOSPLIT|NOFRAME,$0-40
	MOVQ	addr+8(FP), DI
	MOVQ	v+16(FP), AX
	ENTER
	MOVQ	AX, (DI)
	LEAVE
	MOVQ	$1, ok+32(FP)
	RET

// userFault: where trapEntry goes on when one of the above has met a page that
// it cannot access.
TEXT ·userFault(SB),NOSPLIT|NOFRAME,$0
	LEAVE
	MOVQ	$0, 40(SP) // ok
	RET
