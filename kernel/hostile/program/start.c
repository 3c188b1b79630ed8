// The entry, the system call instruction in its forms, and signals.
#include "hostile.h"
#include <asm/unistd.h>

void *memset(void *p, int v, u64 n)
{
	for (u64 i = 0; i < n; i++)
		((volatile char *)p)[i] = v;
	return p;
}

void *memcpy(void *p, const void *q, u64 n)
{
	for (u64 i = 0; i < n; i++)
		((volatile char *)p)[i] = ((const char *)q)[i];
	return p;
}

long raw(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}

// spawn makes a clone call of any kind. A child has no stack to return on: it
// makes its few calls in registers and exits.
long spawn(long nr, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	register u64 r10 __asm__("r10") = d, r8 __asm__("r8") = e;
	long r;
	__asm__ volatile("syscall\n\t"
		"test %%rax, %%rax\n\tjnz 1f\n"
		// A robust list and a word to clear that are anywhere.
		"\tmov %%r12, %%rdi\n\tmov $24, %%esi\n\tmov $273, %%eax\n\tsyscall\n"
		"\tmov %%r13, %%rdi\n\tmov $218, %%eax\n\tsyscall\n"
		"2:\txor %%edi, %%edi\n\tmov $60, %%eax\n\tsyscall\n\tjmp 2b\n"
		"1:"
		: "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return r;
}

// run starts fn(w) as a thread.
void run(u64 stack, void (*fn)(struct worker *), struct worker *w, u64 flags, int *tid)
{
	register u64 r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
	long r;
	((u64 *)stack)[-2] = (u64)fn;
	((u64 *)stack)[-3] = (u64)w;
	__asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n"
		"\txor %%ebp, %%ebp\n\tpop %%rdi\n\tpop %%rax\n\tcall *%%rax\n\tud2\n1:"
		: "=a"(r) : "a"(__NR_clone), "D"(flags), "S"(stack - 24), "d"(tid), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
}

// returns makes rt_sigreturn read its frame at an address; it comes back by a
// fault, if at all.
void returns(u64 frame)
{
	__asm__ volatile("mov %0, %%rsp\n\tmov $15, %%eax\n\tsyscall\n\tud2" : : "r"(frame) : "memory");
	__builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n\tud2\n");
__asm__("restorer:\n\tmov $15, %eax\n\tsyscall\n\tud2\n"
	"entry:\n\tcld\n\tpush %rdi\n\tmov %rsp, %rcx\n\tsub $8, %rsp\n\tand $-16, %rsp\n\tpush %rcx\n\tpush %rcx\n\tcall handler\n\tpop %rsp\n\tpop %rdi\n\tret\n");
extern char restorer[], entry[];

enum { SA_SIGINFO = 4, SA_ONSTACK = 0x08000000, SA_RESTORER = 0x04000000 };

// vectors installs the handler of every signal.
void vectors(void)
{
	u64 action[4] = {(u64)entry, SA_SIGINFO | SA_ONSTACK | SA_RESTORER, (u64)restorer, -1ul};
	for (int sig = 1; sig <= 64; sig++)
		raw(__NR_rt_sigaction, sig, (u64)action, 0, 8, 0, 0);
}

// handler returns from signals that somebody sent, and leaves the call or
// access behind that faulted.
void handler(int sig, void *info, void *context)
{
	(void)context;
	struct worker *w = (struct worker *)((u64)__builtin_frame_address(0) & -(u64)STACK);
	int code = ((int *)info)[2];
	if ((sig == 4 || sig == 5 || sig == 7 || sig == 8 || sig == 11) && code > 0) {
		if ((u64)w < MM || w->armed != 1) {
			u64 v[] = {sig, code, ((u64 *)info)[2], w->nr};
			say("FAULT", v, 4);
			raw(__NR_exit_group, 78, 0, 0, 0, 0, 0);
		}
		w->armed = 0;
		u64 none = 0;
		raw(__NR_rt_sigprocmask, 2, (u64)&none, 0, 8, 0, 0);
		__builtin_longjmp(w->jump, 1);
	}
	count(__NR_rt_sigreturn, 0);
}
