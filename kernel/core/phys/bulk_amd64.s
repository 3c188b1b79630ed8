#include "textflag.h"

// Only X14 and X15 may be used: the entry code of the kernel saves no others.

// func zero(p unsafe.Pointer, n uintptr)
TEXT ·zero(SB),NOSPLIT,$0-16
	MOVQ	p+0(FP), DI
	MOVQ	n+8(FP), CX
	SHRQ	$8, CX
	JZ	done
	XORPS	X15, X15
loop:
	MOVUPS	X15, 0(DI)
	MOVUPS	X15, 16(DI)
	MOVUPS	X15, 32(DI)
	MOVUPS	X15, 48(DI)
	MOVUPS	X15, 64(DI)
	MOVUPS	X15, 80(DI)
	MOVUPS	X15, 96(DI)
	MOVUPS	X15, 112(DI)
	MOVUPS	X15, 128(DI)
	MOVUPS	X15, 144(DI)
	MOVUPS	X15, 160(DI)
	MOVUPS	X15, 176(DI)
	MOVUPS	X15, 192(DI)
	MOVUPS	X15, 208(DI)
	MOVUPS	X15, 224(DI)
	MOVUPS	X15, 240(DI)
	ADDQ	$256, DI
	DECQ	CX
	JNZ	loop
done:
	RET

// func move(dst, src unsafe.Pointer, n uintptr)
TEXT ·move(SB),NOSPLIT,$0-24
	MOVQ	dst+0(FP), DI
	MOVQ	src+8(FP), SI
	MOVQ	n+16(FP), BX
	MOVQ	BX, CX
	SHRQ	$7, CX
	JZ	words
block:
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
	ADDQ	$128, SI
	ADDQ	$128, DI
	DECQ	CX
	JNZ	block
	XORPS	X15, X15
words:
	ANDQ	$127, BX
	MOVQ	BX, CX
	SHRQ	$3, CX
	JZ	bytes
word:
	MOVQ	(SI), AX
	MOVQ	AX, (DI)
	ADDQ	$8, SI
	ADDQ	$8, DI
	DECQ	CX
	JNZ	word
bytes:
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
	RET
