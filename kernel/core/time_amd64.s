#include "textflag.h"

// func nowNS() uint64: (TSC - tscBase) * tscMul / 2^32.
TEXT ·nowNS(SB),NOSPLIT|NOFRAME,$0-8
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	SUBQ	·tscBase(SB), AX
	MULQ	·tscMul(SB)
	SHRQ	$32, DX, AX
	MOVQ	AX, ret+0(FP)
	RET
