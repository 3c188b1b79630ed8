// entry: what a program observes where it enters and leaves the kernel with
// hostile registers: GS and FS bases of any value across faults, interrupts,
// calls and signals; returns to addresses that do not exist; single steps and
// breakpoints around SYSCALL. Not here: WRGSBASE with an address that is not
// canonical, which QEMU 7.2 lets through.
#include "../observe.h"
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int number, code, steps, ticks;
static volatile uintptr_t address, stop;
static sigjmp_buf back;

static unsigned long readGS(void) {
	unsigned long v;
	__asm__ volatile("rdgsbase %0" : "=r"(v));
	return v;
}

static void writeGS(unsigned long v) { __asm__ volatile("wrgsbase %0" : : "r"(v)); }

// jump leaves a handler for where sigsetjmp was called.
static void jump(int s, siginfo_t *i, void *u) {
	(void)u;
	number = s;
	code = i->si_code;
	address = (uintptr_t)i->si_addr;
	siglongjmp(back, 1);
}

static void tick(int s) {
	(void)s;
	ticks++;
}

static void set(int s, void (*f)(int, siginfo_t *, void *)) {
	struct sigaction a = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(s, &a, 0);
}

// GS bases that would mislead a kernel that trusted them: its own halves, its
// text, nothing, the last canonical addresses.
static const unsigned long bases[] = {
	0, 1, 0x7fffffffefff, 0x7fffffffffff, 0xffff800000000000, 0xffff900000000000,
	0xffff900000100000, 0xffffffff80200000, 0xffffffff90000000, 0xfffffffffffff000, ~0ul,
};

static void gs(void) {
	char *page = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGALRM, tick);
	for (unsigned i = 0; i < sizeof bases / sizeof *bases; i++) {
		writeGS(bases[i]);
		page[i << 13] = 1;                                 // a page fault that is mended
		int leaf = syscall(SYS_getppid) >= 0;              // answered at once
		int call = syscall(SYS_umask, 022) >= 0;           // in earnest
		int same = readGS() == bases[i];
		number = 0;
		if (!sigsetjmp(back, 1))
			*(volatile char *)8 = 1;                       // one that is not
		int fault = number;
		number = 0;
		if (!sigsetjmp(back, 1))
			__asm__ volatile("ud2");
		int opcode = number;
		number = 0;
		if (!sigsetjmp(back, 1))
			__asm__ volatile("hlt");
		int privileged = number;
		int after = readGS() == bases[i];
		ticks = 0;
		struct itimerval t = {.it_value = {0, 3000}};
		setitimer(ITIMER_REAL, &t, 0);
		int kept = 1;
		while (!ticks)                                     // interrupts
			kept &= readGS() == bases[i];
		say("gs base %#lx: calls %d %d same %d, signals %d %d %d same %d, interrupts %d",
			bases[i], leaf, call, same, fault, opcode, privileged, after, kept);
	}
	writeGS(0);
	unsigned long v = 1;
	TRY(syscall(SYS_arch_prctl, ARCH_SET_GS, 0x123456789000));
	TRY(syscall(SYS_arch_prctl, ARCH_GET_GS, &v));
	say("gs base by arch_prctl: %#lx %#lx", v, readGS());
	TRY(syscall(SYS_arch_prctl, ARCH_SET_GS, 0x800000000000));
	TRY(syscall(SYS_arch_prctl, ARCH_SET_GS, 0xffffffff80000000));
	TRY(syscall(SYS_arch_prctl, ARCH_SET_FS, 0xffff900000000000));
	TRY(syscall(SYS_arch_prctl, ARCH_SET_FS, ~0ul));
}

// own has a GS base of its own beside others, through waits, forwarded calls
// and switches.
static void *own(void *p) {
	unsigned long mine = (unsigned long)p, lost = readGS() != 0x5555;
	writeGS(mine);
	for (int i = 0; i < 300; i++) {
		if (i % 3 == 0)
			usleep(20);
		else if (i % 3 == 1)
			sched_yield();
		else
			umask(022);
		lost += readGS() != mine;
	}
	return (void *)lost;
}

static void threads(void) {
	pthread_t t[4];
	unsigned long lost = 0;
	writeGS(0x5555); // which a new thread begins with
	for (unsigned long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, own, (void *)(0x1000 * (i + 1)));
	for (int i = 0; i < 4; i++) {
		void *r;
		pthread_join(t[i], &r);
		lost += (unsigned long)r;
	}
	say("gs bases of threads: lost %lu, of the first thread: %#lx", lost, readGS());
	writeGS(0);
}

// FS holds the C library's thread: it is lost only between instructions that
// need none of it.
static void fs(void) {
	unsigned failures = 0;
	for (unsigned i = 0; i < sizeof bases / sizeof *bases; i++) {
		unsigned long old, now, result;
		__asm__ volatile(
			"rdfsbase %0\n\twrfsbase %3\n\t"
			"mov $110, %%eax\n\tsyscall\n\t"
			"mov $24, %%eax\n\tsyscall\n\t"
			"mov %%rax, %2\n\t"
			"rdfsbase %1\n\twrfsbase %0"
			: "=&r"(old), "=&r"(now), "=&r"(result) : "r"(bases[i]) : "rax", "rcx", "r11", "memory");
		failures += now != bases[i] || result != 0;
	}
	say("fs bases lost: %u", failures);
}

// wild goes on, by way of a handler's context, at an address.
static uintptr_t target;

static void wild(int s, siginfo_t *i, void *u) {
	(void)s;
	(void)i;
	ucontext_t *c = u;
	c->uc_mcontext.gregs[REG_RIP] = target;
}

static void returns(void) {
	static const uintptr_t to[] = {
		0x7ffffffff000, 0x7fffffffffff, 0x800000000000, 0x8000000000000000, 0xffff7fffffffffff,
		0xffff800000000000, 0xffffffff80200000, 0xffffffff90000000, 0xffffffffff600000 - 4096, ~(uintptr_t)0,
	};
	set(SIGUSR1, wild);
	for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
		target = to[i];
		number = 0;
		if (!sigsetjmp(back, 1))
			raise(SIGUSR1);
		say("sigreturn to %#lx: signal %d code %d", (unsigned long)to[i], number, code);
	}
	// The last page that a program may have, with SYSCALL as its last bytes.
	char *last = (char *)0x7fffffffe000;
	char *got = mmap(last, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	say("last page: %s", got == last ? "mapped" : strerrorname_np(errno));
	TRY(mmap((char *)0x7ffffffff000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ? -1 : 0);
	if (got == last) {
		memcpy(last + 4094, "\x0f\x05", 2);
		number = 0;
		if (!sigsetjmp(back, 1))
			__asm__ volatile("jmp *%1" : : "a"(SYS_getppid), "r"(last + 4094) : "rcx", "r11", "memory");
		say("syscall before the end: signal %d code %d", number, code);
		number = 0;
		if (!sigsetjmp(back, 1))
			__asm__ volatile("jmp *%1" : : "a"(SYS_sched_yield), "r"(last + 4094) : "rcx", "r11", "memory");
		say("syscall before the end: signal %d code %d at the end %d", number, code, address == 0x7ffffffff000);
	}
}

// step counts the single steps until the program clears the flag.
static uintptr_t from;
static int relative[64];

static void step(int s, siginfo_t *i, void *u) {
	(void)s;
	ucontext_t *c = u;
	if (steps < 64)
		relative[steps] = (int)(c->uc_mcontext.gregs[REG_RIP] - from);
	steps++;
	code = i->si_code;
}

static void trace(const char *name) {
	printf("%s:", name);
	for (int i = 0; i < steps && i < 64; i++)
		printf(" +%d", relative[i]);
	say(", code %d", code);
	steps = 0;
}

#define STEP(name, call) do { \
	__asm__ volatile( \
		"lea 1f(%%rip), %%rax\n\tmov %%rax, %0\n\t" \
		"pushfq\n\torl $0x100, (%%rsp)\n\t1: popfq\n\t" \
		"nop\n\tmov $" #call ", %%eax\n\tsyscall\n\tnop\n\tnop\n\t" \
		"pushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq\n\tnop" \
		: "=m"(from) : : "rax", "rcx", "r11", "memory", "cc"); \
	trace(name); } while (0)

static void brk3(int s, siginfo_t *i, void *u) {
	(void)s;
	ucontext_t *c = u;
	number = i->si_signo;
	code = i->si_code;
	address = c->uc_mcontext.gregs[REG_RIP];
}

static void single(void) {
	set(SIGTRAP, step);
	STEP("steps through getppid", 110);
	STEP("steps through sched_yield", 24);
	STEP("steps through sync", 162);
	STEP("steps through no call", 9999);
	set(SIGTRAP, brk3);
	uintptr_t at, after;
	unsigned long result;
	__asm__ volatile("int3\n1: lea 1b(%%rip), %0" : "=r"(at) : : "memory");
	say("int3: signal %d code %d behind it %d", number, code, address == at);
	number = 0;
	__asm__ volatile("mov $24, %%eax\n\tsyscall\n\tint3\n1: lea 1b(%%rip), %0\n\tmov %%rax, %1"
		: "=&r"(after), "=&r"(result) : : "rax", "rcx", "r11", "memory");
	say("int3 behind a call: signal %d code %d behind it %d, result %ld", number, code, address == after, (long)result);
	number = 0;
	if (!sigsetjmp(back, 1)) {
		set(SIGSEGV, jump);
		__asm__ volatile("int $0x0e");
	}
	say("int 14: signal %d code %d", number, code);
	number = 0;
	if (!sigsetjmp(back, 1))
		__asm__ volatile("int $0x82");
	say("int 0x82: signal %d code %d", number, code);
	number = 0;
	unsigned long rcx, r11;
	__asm__ volatile("std\n\tmov $24, %%eax\n\tsyscall\n\tmov %%r11, %1\n\tcld\n\tlea 1f(%%rip), %0\n1:"
		: "=&r"(rcx), "=&r"(r11) : : "rax", "rcx", "r11", "memory", "cc");
	say("direction flag kept %d", (r11 >> 10 & 1) == 1);
	__asm__ volatile("pushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\tmov $24, %%eax\n\tsyscall\n\tpushfq\n\tpop %0\n\tpushfq\n\tandl $~0x40000, (%%rsp)\n\tpopfq"
		: "=&r"(r11) : : "rax", "rcx", "r11", "memory", "cc");
	say("alignment flag kept %d", (r11 >> 18 & 1) == 1);
}

int main(void) {
	if (!(getauxval(AT_HWCAP2) & 2)) {
		say("no FSGSBASE");
		return 1;
	}
	set(SIGSEGV, jump);
	set(SIGILL, jump);
	set(SIGBUS, jump);
	gs();
	threads();
	fs();
	returns();
	single();
	return 0;
}
