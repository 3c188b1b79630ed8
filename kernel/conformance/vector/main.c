// Vector and floating-point state: what a thread has in its YMM, XMM and x87
// registers, MXCSR and the control word is there again after system calls,
// waits, page faults, preemption by other threads, and signal handlers that use
// all of it themselves. Each line says of one way through the kernel whether
// every register came back in every round.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct state {
	uint8_t ymm[16][32];
	long double x87[4];
	uint32_t mxcsr;
	uint16_t fcw;
} __attribute__((aligned(32)));

// A way through the kernel: a system call, or a loop that is preempted, or a
// store that faults.
struct way {
	const char *name;
	long number, arg[4]; // a system call, when number is not negative
	long spin;           // iterations, before it
	volatile char *store; // written after it
};

// pass loads in, goes the way, stores out. No call lies in between: the compiler
// could use the registers.
static void pass(const struct state *in, struct state *out, const struct way *w)
{
	register long r10 asm("r10") = w->arg[3];
	long number = w->number, spin = w->spin;
	volatile char *store = w->store;
	asm volatile(
		"fninit\n\tfldcw %[fcw]\n\tldmxcsr %[mxcsr]\n\t"
		"fldt 0(%[f])\n\tfldt 16(%[f])\n\tfldt 32(%[f])\n\tfldt 48(%[f])\n\t"
		"vmovups 0(%[y]), %%ymm0\n\tvmovups 32(%[y]), %%ymm1\n\tvmovups 64(%[y]), %%ymm2\n\tvmovups 96(%[y]), %%ymm3\n\t"
		"vmovups 128(%[y]), %%ymm4\n\tvmovups 160(%[y]), %%ymm5\n\tvmovups 192(%[y]), %%ymm6\n\tvmovups 224(%[y]), %%ymm7\n\t"
		"vmovups 256(%[y]), %%ymm8\n\tvmovups 288(%[y]), %%ymm9\n\tvmovups 320(%[y]), %%ymm10\n\tvmovups 352(%[y]), %%ymm11\n\t"
		"vmovups 384(%[y]), %%ymm12\n\tvmovups 416(%[y]), %%ymm13\n\tvmovups 448(%[y]), %%ymm14\n\tvmovups 480(%[y]), %%ymm15\n\t"
		"1: dec %[spin]\n\tjg 1b\n\t"
		"test %%rax, %%rax\n\tjs 2f\n\tsyscall\n\t2:\n\t"
		"test %[store], %[store]\n\tjz 3f\n\tincb (%[store])\n\t3:\n\t"
		: "+a"(number), [spin] "+r"(spin)
		: "D"(w->arg[0]), "S"(w->arg[1]), "d"(w->arg[2]), "r"(r10), [store] "r"(store), [y] "r"(in->ymm), [f] "r"(in->x87), [fcw] "m"(in->fcw), [mxcsr] "m"(in->mxcsr)
		: "rcx", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
	asm volatile(
		"vmovups %%ymm0, 0(%[y])\n\tvmovups %%ymm1, 32(%[y])\n\tvmovups %%ymm2, 64(%[y])\n\tvmovups %%ymm3, 96(%[y])\n\t"
		"vmovups %%ymm4, 128(%[y])\n\tvmovups %%ymm5, 160(%[y])\n\tvmovups %%ymm6, 192(%[y])\n\tvmovups %%ymm7, 224(%[y])\n\t"
		"vmovups %%ymm8, 256(%[y])\n\tvmovups %%ymm9, 288(%[y])\n\tvmovups %%ymm10, 320(%[y])\n\tvmovups %%ymm11, 352(%[y])\n\t"
		"vmovups %%ymm12, 384(%[y])\n\tvmovups %%ymm13, 416(%[y])\n\tvmovups %%ymm14, 448(%[y])\n\tvmovups %%ymm15, 480(%[y])\n\t"
		"stmxcsr %[mxcsr]\n\tfstcw %[fcw]\n\t"
		"fstpt 48(%[f])\n\tfstpt 32(%[f])\n\tfstpt 16(%[f])\n\tfstpt 0(%[f])\n\tfninit\n\tvzeroupper\n\t"
		: [fcw] "=m"(out->fcw), [mxcsr] "=m"(out->mxcsr)
		: [y] "r"(out->ymm), [f] "r"(out->x87)
		: "memory");
	static const uint32_t usual = 0x1f80;
	asm volatile("ldmxcsr %0" : : "m"(usual));
}

static void fill(struct state *s, unsigned seed)
{
	memset(s, 0, sizeof *s); // the padding of long double too
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 32; j++)
			s->ymm[i][j] = seed * 31 + i * 32 + j;
	for (int i = 0; i < 4; i++)
		s->x87[i] = seed * 4 + i + 1 / 3.0L;
	s->mxcsr = seed & 1 ? 0x1f80 : 0x7f80; // rounding towards zero
	s->fcw = seed & 1 ? 0x37f : 0x77f;     // rounding up
}

// go goes the way rounds times and counts the rounds that lost something.
static int lost(const struct way *w, int rounds, unsigned seed)
{
	struct state in, out;
	int bad = 0;
	for (int r = 0; r < rounds; r++) {
		fill(&in, seed + r);
		memset(&out, 0, sizeof out);
		pass(&in, &out, w);
		bad += memcmp(in.ymm, out.ymm, sizeof in.ymm) != 0 || memcmp(in.x87, out.x87, sizeof in.x87) != 0 ||
		       in.mxcsr != out.mxcsr || in.fcw != out.fcw;
	}
	return bad;
}

static void check(const struct way *w, int rounds, unsigned seed)
{
	int bad = lost(w, rounds, seed);
	if (bad)
		printf("%s: lost in %d of %d rounds\n", w->name, bad, rounds);
	else
		printf("%s: kept\n", w->name);
}

// on_signal overwrites everything that it can.
static void on_signal(int sig)
{
	(void)sig;
	struct state in, out;
	struct way nothing = {.number = -1};
	fill(&in, 77);
	pass(&in, &out, &nothing);
}

static void *spinner(void *arg)
{
	struct way spin = {.number = -1, .spin = 20 * 1000 * 1000};
	return (void *)(intptr_t)lost(&spin, 5, 1000 * (unsigned)(intptr_t)arg);
}

int main(void)
{
	if (!__builtin_cpu_supports("avx")) {
		printf("the processor has no AVX\n");
		return 1;
	}
	const long anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	struct timespec short_time = {0, 200000}, none = {0, 0};
	uint32_t word = 5;
	char byte;
	int ends[2];
	if (pipe(ends))
		return 1;

	check(&(struct way){.name = "getppid", .number = SYS_getppid}, 1000, 1);
	check(&(struct way){.name = "gettid", .number = SYS_gettid}, 1000, 2);
	check(&(struct way){.name = "unknown call", .number = 999}, 10, 3);
	check(&(struct way){.name = "sched_yield", .number = SYS_sched_yield}, 1000, 4);
	check(&(struct way){.name = "nanosleep", .number = SYS_nanosleep, .arg = {(long)&short_time}}, 50, 5);
	check(&(struct way){.name = "nanosleep of nothing", .number = SYS_nanosleep, .arg = {(long)&none}}, 50, 6);
	check(&(struct way){.name = "futex that times out", .number = SYS_futex, .arg = {(long)&word, 0, 5, (long)&short_time}}, 50, 7);
	check(&(struct way){.name = "futex of another value", .number = SYS_futex, .arg = {(long)&word, 0, 6}}, 200, 8);
	check(&(struct way){.name = "getcwd", .number = SYS_getcwd, .arg = {(long)(char[4096]){0}, 4096}}, 200, 9);
	check(&(struct way){.name = "openat of nothing", .number = SYS_openat, .arg = {-100, (long)"/no/such/file", 0}}, 200, 10);
	check(&(struct way){.name = "fstat of a pipe", .number = SYS_fstat, .arg = {ends[0], (long)(char[512]){0}}}, 200, 11);
	check(&(struct way){.name = "mmap", .number = SYS_mmap, .arg = {0, 1 << 20, PROT_READ, anonymous}}, 200, 12);
	check(&(struct way){.name = "preemption, alone", .number = -1, .spin = 50 * 1000 * 1000}, 3, 13);

	volatile char *memory = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, anonymous, -1, 0);
	struct way fault = {.name = "page faults", .number = -1};
	int bad = 0;
	for (int i = 0; i < 2000; i++) {
		fault.store = memory + (size_t)i * 32768;
		bad += lost(&fault, 1, i);
	}
	printf("%s: %s\n", fault.name, bad ? "lost" : "kept");

	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGUSR1, &action, 0);
	check(&(struct way){.name = "a signal to itself", .number = SYS_tgkill, .arg = {getpid(), syscall(SYS_gettid), SIGUSR1}}, 200, 14);
	sigaction(SIGALRM, &action, 0);
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec often = {{0, 2000000}, {0, 2000000}}, never = {{0, 0}, {0, 0}};
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, 0)) {
		printf("timer: none\n");
		return 1;
	}
	check(&(struct way){.name = "signals of a timer", .number = -1, .spin = 50 * 1000 * 1000}, 5, 15);
	check(&(struct way){.name = "signals of a timer in getppid", .number = SYS_getppid, .spin = 1000 * 1000}, 50, 16);
	timer_settime(timer, 0, &never, 0);

	pthread_t threads[4];
	long all = 0;
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, spinner, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		void *one;
		pthread_join(threads[i], &one);
		all += (long)one;
	}
	printf("preemption, four threads: %s\n", all ? "lost" : "kept");
	if (write(ends[1], "x", 1) != 1)
		return 1;
	check(&(struct way){.name = "read of a pipe", .number = SYS_read, .arg = {ends[0], (long)&byte, 1}}, 1, 17);
	return 0;
}
