#include "textflag.h"

// func receive(action uint64) (request uint64)
// A CALL into core: the ring and the address space are the same.
TEXT ·receive(SB), NOSPLIT, $0-16
	MOVQ action+0(FP), DI
	MOVQ ·receiveEntry(SB), AX
	CALL AX
	MOVQ AX, request+8(FP)
	RET

// func ucopy(dst, src, n uintptr) (ok uint64)
// Copies between user and kernel memory, with STAC around it. When core cannot
// resolve a fault on the user's side it resumes at ucopyPad. No REP MOVS: an
// emulator runs it a byte at a time.
TEXT ·ucopy(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	BYTE $0x0f; BYTE $0x01; BYTE $0xcb // STAC
	MOVQ CX, BX
	ANDQ $7, BX
	SHRQ $3, CX
	JZ   tail
	SUBQ $6, CX
	JLT  words

blocks: // 48 bytes a turn; X0 to X2 hold nothing across a Go call
	MOVUPS (SI), X0
	MOVUPS 16(SI), X1
	MOVUPS 32(SI), X2
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	MOVUPS X2, 32(DI)
	ADDQ   $48, SI
	ADDQ   $48, DI
	SUBQ   $6, CX
	JGE    blocks

words:
	ADDQ $6, CX
	JZ   tail

word:
	MOVQ (SI), AX
	MOVQ AX, (DI)
	ADDQ $8, SI
	ADDQ $8, DI
	DECQ CX
	JNZ  word

tail:
	TESTQ BX, BX
	JZ    done

byte:
	MOVB (SI), AX
	MOVB AX, (DI)
	INCQ SI
	INCQ DI
	DECQ BX
	JNZ  byte

done:
	BYTE $0x0f; BYTE $0x01; BYTE $0xca // CLAC
	MOVQ $1, ok+24(FP)
	RET

// ucopyPad has the frame of ucopy, so that the arguments lie where they lay.
TEXT ·ucopyPad(SB), NOSPLIT, $0-32
	BYTE $0x0f; BYTE $0x01; BYTE $0xca // CLAC
	MOVQ $0, ok+24(FP)
	RET

// func ucopyRange() (lo, hi, pad uintptr)
TEXT ·ucopyRange(SB), NOSPLIT, $0-24
	LEAQ ·ucopy(SB), AX
	MOVQ AX, lo+0(FP)
	LEAQ ·ucopyPad(SB), AX
	MOVQ AX, hi+8(FP)
	MOVQ AX, pad+16(FP)
	RET

// func out(port uint16, v uint8)
TEXT ·out(SB), NOSPLIT, $0-3
	MOVW port+0(FP), DX
	MOVB v+2(FP), AX
	OUTB
	RET

// func in(port uint16) (v uint8)
TEXT ·in(SB), NOSPLIT, $0-9
	MOVW port+0(FP), DX
	INB
	MOVB AX, v+8(FP)
	RET
