// Offsets of the fields that assembly uses, checked by TestOffsets.

// In Thread.
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
#define F_VECTOR 120
#define F_RIP 136
#define F_CS 144
#define F_FL 152
#define F_SP 160
#define F_X14 704
#define F_X15 720
#define F_HOW 280

// In CPU, by way of GS.
#define P_CUR 0
#define P_KSP 8
#define P_SCR 16
#define P_G 24
#define P_SELF 40
#define P_FLUSH 48

// The page tables of the upper half, physical (kernel/image, offPML4).
#define BOOT_PML4 0x100000

// In a processor's area, see area.go.
#define AREA_SIZE 0x10000
#define AREA_SELF 0x0000
#define AREA_G 0x0200
#define AREA_CPU 0x0800
#define AREA_G_NMI 0x0240
#define AREA_G_FAULT 0x0280
#define AREA_G_CHECK 0x02c0

#define PANIC_STACK 0x4000

// Where services begin, as a signed 32-bit number.
#define SERVICES_BASE -0x70000000
