#include "textflag.h"

// The code of the vDSO, copied into its page at boot and run by programs in
// ring 3 with the C calling convention. It is position independent: the data
// page (vdsoData in vdso.go) is the one below the page that it runs in.

// DATA: R11 = the data page: LEAQ 0(IP), R11 and down.
#define DATA \
	BYTE $0x4c; BYTE $0x8d; BYTE $0x1d; BYTE $0x00; BYTE $0x00; BYTE $0x00; BYTE $0x00; \
	ANDQ	$-4096, R11; \
	SUBQ	$4096, R11

// NOW: R8 = ns since boot. Changes AX, DX.
#define NOW \
	LFENCE; \
	RDTSC; \
	SHLQ	$32, DX; \
	ORQ	DX, AX; \
	SUBQ	0(R11), AX; \
	MULQ	8(R11); \
	SHRQ	$32, AX; \
	SHLQ	$32, DX; \
	ORQ	DX, AX; \
	MOVQ	AX, R8

// SPLIT: R9 = R8 / 1e9, R8 = R8 % 1e9, by 2^75 / (1e9 / 2^9), rounded up.
// Changes AX, DX.
#define SPLIT \
	MOVQ	R8, AX; \
	SHRQ	$9, AX; \
	MOVQ	$19342813113834067, DX; \
	MULQ	DX; \
	SHRQ	$11, DX; \
	MOVQ	DX, R9; \
	IMULQ	$1000000000, DX; \
	SUBQ	DX, R8

// int clock_gettime(clockid_t, struct timespec *)
TEXT ·vdsoClockGettime(SB),NOSPLIT|NOFRAME,$0
	CMPL	DI, $11
	JA	call
	MOVL	$0x8f3, AX // REALTIME, MONOTONIC, RAW, both COARSE, BOOTTIME, TAI
	BTL	DI, AX
	JCC	call
	DATA
	NOW
	MOVL	$0x821, AX // those that count from 1970
	BTL	DI, AX
	JCC	boot
	ADDQ	16(R11), R8
boot:
	SPLIT
	MOVQ	R9, 0(SI)
	MOVQ	R8, 8(SI)
	XORL	AX, AX
	RET
call:
	MOVL	$228, AX
	SYSCALL
	RET

// int gettimeofday(struct timeval *, struct timezone *)
TEXT ·vdsoGettimeofday(SB),NOSPLIT|NOFRAME,$0
	TESTQ	DI, DI
	JZ	zone
	DATA
	NOW
	ADDQ	16(R11), R8
	SPLIT
	MOVQ	R9, 0(DI)
	MOVL	R8, AX
	IMULQ	$274877907, AX // 2^38 / 1000, rounded up
	SHRQ	$38, AX
	MOVQ	AX, 8(DI)
zone:
	TESTQ	SI, SI
	JZ	done
	MOVQ	$0, 0(SI)
done:
	XORL	AX, AX
	RET

// time_t time(time_t *)
TEXT ·vdsoTime(SB),NOSPLIT|NOFRAME,$0
	DATA
	NOW
	ADDQ	16(R11), R8
	SPLIT
	MOVQ	R9, AX
	TESTQ	DI, DI
	JZ	done
	MOVQ	AX, 0(DI)
done:
	RET

// int getcpu(unsigned *cpu, unsigned *node, void *)
TEXT ·vdsoGetcpu(SB),NOSPLIT|NOFRAME,$0
	DATA
	CMPQ	24(R11), $0
	JEQ	call
	BYTE	$0x0f; BYTE $0x01; BYTE $0xf9 // RDTSCP
	TESTQ	DI, DI
	JZ	node
	MOVL	CX, 0(DI)
node:
	TESTQ	SI, SI
	JZ	done
	MOVL	$0, 0(SI)
done:
	XORL	AX, AX
	RET
call:
	MOVL	$309, AX
	SYSCALL
	RET

// int clock_getres(clockid_t, struct timespec *)
TEXT ·vdsoClockGetres(SB),NOSPLIT|NOFRAME,$0
	MOVL	$229, AX
	SYSCALL
	RET

TEXT ·vdsoEnd(SB),NOSPLIT|NOFRAME,$0
	RET

// func vdsoCode() (begin, gettimeofday, time, getcpu, getres, end uint64)
TEXT ·vdsoCode(SB),NOSPLIT,$0-48
	LEAQ	·vdsoClockGettime(SB), AX
	MOVQ	AX, begin+0(FP)
	LEAQ	·vdsoGettimeofday(SB), AX
	MOVQ	AX, gettimeofday+8(FP)
	LEAQ	·vdsoTime(SB), AX
	MOVQ	AX, time+16(FP)
	LEAQ	·vdsoGetcpu(SB), AX
	MOVQ	AX, getcpu+24(FP)
	LEAQ	·vdsoClockGetres(SB), AX
	MOVQ	AX, getres+32(FP)
	LEAQ	·vdsoEnd(SB), AX
	MOVQ	AX, end+40(FP)
	RET
