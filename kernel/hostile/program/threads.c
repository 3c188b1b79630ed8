// Recipes: calls of threads, signals, timers and the process.
#include "hostile.h"
#include <asm/unistd.h>

#define A(kind) argument(w, kind)

void actions(struct worker *w)
{
	u64 *act = (u64 *)scratch(w, 32), sig = below(w, 8) ? 33 + below(w, 4) : A('S');
	act[0] = below(w, 4) ? below(w, 2) : A('.'), act[1] = A('.') | 0x04000000, act[2] = A('.'), act[3] = A('.');
	if (sig == 4 || sig == 5 || sig == 7 || sig == 8 || sig == 11) // the program lives by these
		sig = 12;
	if (sig < 32 && act[0] != 1) // its default would end the program
		act[0] = 1;
	CALL(w, __NR_rt_sigaction, sig, below(w, 3) ? (u64)act : A('B'), A('B'), A('8'));
	vectors();
}

void masks(struct worker *w)
{
	u64 none = 0;
	CALL(w, __NR_rt_sigprocmask, below(w, 12) ? below(w, 3) : A('.'), A('G'), A('B'), A('8'));
	CALL(w, __NR_rt_sigpending, A('b'), A('8'));
	raw(__NR_rt_sigprocmask, 2, (u64)&none, 0, 8, 0, 0);
}

// sigreturns has the kernel load registers from a frame with anything in it.
void sigreturns(struct worker *w)
{
	if (below(w, 3)) { // the honest way
		CALL(w, __NR_tgkill, pid, w->tid, 10 + below(w, 2) * 25);
		return;
	}
	u64 *f = (u64 *)scratch(w, 1024);
	for (int i = 0; i < 128; i++)
		f[i] = below(w, 3) ? 0 : A('.');
	// struct ucontext: flags, link, stack, then r8…r15 di si bp bx dx ax cx sp ip flags segments; see asm/sigcontext.h.
	u64 *regs = f + 5;
	if (below(w, 2))
		regs[16] = below(w, 2) ? 0xffffffff80200000 : below(w, 2) ? 0x7ffffffff000 : (u64)&returns;
	if (below(w, 2))
		regs[17] = below(w, 2) ? 0x200 : A('.');
	if (below(w, 2))
		regs[18] = 0x2b000000000033;
	if (below(w, 3))
		regs[23] = below(w, 2) ? 0 : scratch(w, 2048) & ~63ul;
	if (below(w, 64)) // the stack for handlers is what it was
		f[2] = (u64)w, f[3] = 0, f[4] = STACK;
	if (below(w, 64)) // and faults are not blocked
		f[37] = 0;
	w->nr = __NR_rt_sigreturn;
	w->calls++;
	__sync_fetch_and_add(&total, 1);
	count(__NR_rt_sigreturn, -14);
	returns(below(w, 64) ? (u64)f : A('b'));
}

void clones(struct worker *w)
{
	static const u64 thread = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
	u64 stack = scratch(w, 4096) + 4000 & ~15ul;
	u64 flags = below(w, 3) ? thread | (below(w, 2) ? 0x80000 | 0x100000 | 0x200000 | 0x1000000 : 0) : A('.') & ~0x4000ul;
	register u64 r12 __asm__("r12") = A('b');
	register u64 r13 __asm__("r13") = A('b');
	__asm__ volatile("" : : "r"(r12), "r"(r13));
	w->calls++;
	__sync_fetch_and_add(&total, 1);
	if (below(w, 2)) {
		u64 a[] = {flags, stack, A('B'), A('B'), A('.')};
		w->nr = __NR_clone;
		for (int i = 0; i < 5; i++)
			w->arg[i] = a[i];
		count(__NR_clone, spawn(__NR_clone, a[0], a[1], a[2], a[3], a[4]));
		return;
	}
	u64 *c = (u64 *)scratch(w, 128);
	for (int i = 0; i < 11; i++)
		c[i] = below(w, 8) ? 0 : A('.');
	c[0] = flags & ~0xfful;
	c[2] = scratch(w, 8), c[3] = scratch(w, 8);
	if (below(w, 8))
		c[4] = 0, c[5] = stack - 2048, c[6] = 2048, c[7] = scratch(w, 64), c[8] = c[9] = c[10] = 0;
	u64 at = below(w, 8) ? (u64)c : A('b'), n = below(w, 8) ? 88 : A('n');
	w->nr = __NR_clone3, w->arg[0] = at, w->arg[1] = n;
	count(__NR_clone3, spawn(__NR_clone3, at, n, 0, 0, 0));
}

// signal is one to send: those that end a program are not for the program
// itself.
static u64 signal(struct worker *w)
{
	u64 s = A('S');
	return (u32)s == 9 || (u32)s == 19 ? 10 : s;
}

void kills(struct worker *w)
{
	CALL(w, __NR_kill, A('Q'), signal(w));
	CALL(w, __NR_tkill, A('P'), signal(w));
	CALL(w, __NR_tgkill, A('Q'), A('P'), signal(w));
}

void queues(struct worker *w)
{
	u32 *info = (u32 *)scratch(w, 128);
	for (int i = 0; i < 32; i++)
		info[i] = A('.');
	info[2] = -(1 + below(w, 6));
	u64 at = below(w, 8) ? (u64)info : A('b');
	CALL(w, __NR_rt_sigqueueinfo, A('Q'), signal(w), at);
	CALL(w, __NR_rt_tgsigqueueinfo, A('Q'), A('P'), signal(w), at);
	// One that waits already.
	u64 *set = (u64 *)scratch(w, 8), none = 0;
	*set = 1ul << 33;
	raw(__NR_rt_sigprocmask, 2, (u64)set, 0, 8, 0, 0);
	CALL(w, __NR_tgkill, pid, w->tid, 34);
	CALL(w, __NR_rt_sigtimedwait, set, A('B'), A('T'), A('8'));
	raw(__NR_rt_sigprocmask, 2, (u64)&none, 0, 8, 0, 0);
}

void suspends(struct worker *w)
{
	u64 *set = (u64 *)scratch(w, 8);
	*set = 1ul << below(w, 64) & ~(1ul << 9);
	CALL(w, __NR_rt_sigsuspend, below(w, 8) ? (u64)set : 1, A('8'));
}

void pauses(struct worker *w)
{
	if (below(w, 10) == 0)
		CALL(w, __NR_pause);
}

void stacks(struct worker *w)
{
	u64 *s = (u64 *)scratch(w, 24);
	s[0] = A('b'), s[1] = below(w, 8) ? 0 : below(w, 4) ? 2 : A('.'), s[2] = below(w, 3) ? STACK : A('n');
	u64 all = -1ul, none = 0;
	raw(__NR_rt_sigprocmask, 2, (u64)&all, 0, 8, 0, 0);
	CALL(w, __NR_sigaltstack, below(w, 2) ? (u64)s : A('B'), A('B'));
	s[0] = (u64)w, s[1] = 0, s[2] = STACK;
	raw(__NR_sigaltstack, (u64)s, 0, 0, 0, 0, 0);
	raw(__NR_rt_sigprocmask, 2, (u64)&none, 0, 8, 0, 0);
}

void robusts(struct worker *w)
{
	CALL(w, __NR_set_robust_list, A('b'), below(w, 4) ? 24 : A('n'));
	CALL(w, __NR_get_robust_list, A('P'), A('b'), A('b'));
	CALL(w, __NR_get_robust_list, 0, scratch(w, 8), scratch(w, 8));
	raw(__NR_set_robust_list, 0, 24, 0, 0, 0, 0);
}

void tids(struct worker *w) { CALL(w, __NR_set_tid_address, A('b')); }

void rseqs(struct worker *w)
{
	// One that is no good ends the program at its next signal.
	u64 at = below(w, 200) ? scratch(w, 160) + 31 & ~31ul : A('b');
	if (at >= BUF && at < BUF + SAFEPAGES * PAGE)
		((u64 *)at)[1] = 0;
	if (below(w, 200) == 0 && at >= BUF && at < BUF + SAFEPAGES * PAGE)
		((u64 *)at)[1] = below(w, 2) ? 0 : A('b');
	u64 n = below(w, 8) ? 32 : A('n');
	long r = CALL(w, __NR_rseq, at, n, below(w, 8) ? 0 : A('i'), 0x53053053);
	if (r == 0) {
		CALL(w, __NR_sched_yield);
		((u64 *)at)[1] = 0;
		CALL(w, __NR_rseq, at, n, 1, 0x53053053);
	}
}

void waitings(struct worker *w)
{
	static const u64 ops[] = {0, 1, 3, 4, 5, 9, 10, 6, 7, 8, 11, 12, 13};
	u64 word = below(w, 8) ? scratch(w, 8) : A('b'), other = below(w, 8) ? scratch(w, 8) : A('b');
	for (int i = 0; i < 6; i++) {
		u64 op = (below(w, 12) ? ops[below(w, below(w, 4) ? 7 : 13)] : A('.')) | (below(w, 2) ? 128 : 0) | (below(w, 8) ? 0 : 256);
		u64 cmd = op & 127, requeue = cmd == 3 || cmd == 4 || cmd == 5 || cmd == 12;
		if (word >= BUF && word < BUF + SAFEPAGES * PAGE && below(w, 2))
			*(u32 *)word = 7;
		CALL(w, __NR_futex, word, op, below(w, 2) ? 7 : A('i'), requeue ? A('i') : A('T'), below(w, 3) ? other : A('b'), below(w, 3) ? (cmd == 4 ? 7 : -1ul & 0xffffffff) : A('.'));
	}
	// A turn that a sleeping thread of the others may be woken by.
	CALL(w, __NR_futex, BUF, 0, *(volatile u32 *)BUF, A('T'));
	CALL(w, __NR_futex, BUF, 1, 1);
}

void timers(struct worker *w)
{
	u64 *event = (u64 *)scratch(w, 64), *id = (u64 *)scratch(w, 8);
	((u32 *)event)[2] = below(w, 8) ? 34 + below(w, 4) : A('S');
	((u32 *)event)[3] = below(w, 8) ? (below(w, 2) ? 1 : below(w, 2) ? 0 : 4) : A('.');
	((u32 *)event)[4] = below(w, 2) ? (u32)w->tid : (u32)A('P');
	long r = CALL(w, __NR_timer_create, A('k'), below(w, 4) ? (u64)event : A('B'), below(w, 8) ? (u64)id : A('b'));
	u64 t = r == 0 && below(w, 8) ? (u64) * (u32 *)id : A('j');
	for (int i = 0; i < 2; i++) {
		CALL(w, __NR_timer_settime, t, below(w, 8) ? below(w, 2) : A('.'), A('I'), A('B'));
		CALL(w, __NR_timer_gettime, t, A('b'));
		CALL(w, __NR_timer_getoverrun, t);
	}
	CALL(w, __NR_timer_delete, below(w, 8) ? t : A('j'));
	CALL(w, __NR_timerfd_settime, slot(w, TIMER), below(w, 2), A('I'), A('B'));
}

void queries(struct worker *w)
{
	static const int leaves[] = {__NR_getuid, __NR_getgid, __NR_geteuid, __NR_getegid, __NR_getppid, __NR_getpgrp, __NR_gettid, __NR_getpid};
	CALL(w, leaves[below(w, 8)]);
	u64 v[3] = {A('U'), A('U'), A('U')};
	switch (below(w, 14)) {
	case 0: CALL(w, __NR_setuid, v[0] == -1ul && below(w, 8) ? 0 : v[0]); break;
	case 1: CALL(w, __NR_setgid, v[0] == -1ul && below(w, 8) ? 0 : v[0]); break;
	case 2: CALL(w, __NR_setresuid, v[0], v[1], v[2]); CALL(w, __NR_setreuid, v[0], v[1]); break;
	case 3: CALL(w, __NR_setresgid, v[0], v[1], v[2]); CALL(w, __NR_setregid, v[0], v[1]); break;
	case 4: CALL(w, __NR_getresuid, A('b'), A('b'), A('b')); CALL(w, __NR_getresgid, A('b'), A('b'), A('b')); break;
	case 5: CALL(w, __NR_getgroups, A('i'), A('b')); break;
	case 6: CALL(w, __NR_setgroups, below(w, 2) ? 0 : A('i'), A('b')); break;
	case 7: CALL(w, __NR_setfsuid, v[0]); CALL(w, __NR_setfsgid, v[1]); break;
	case 8: CALL(w, __NR_getpgid, A('Q')); CALL(w, __NR_getsid, A('Q')); break;
	case 9: CALL(w, __NR_setpgid, A('Q'), A('Q')); CALL(w, __NR_setpgid, 0, 0); break;
	case 10: CALL(w, __NR_setsid); break;
	case 11: {
		u32 *h = (u32 *)scratch(w, 8);
		h[0] = below(w, 8) ? 0x20080522 : (u32)A('.'), h[1] = below(w, 2) ? 0 : (u32)A('P');
		CALL(w, __NR_capget, below(w, 8) ? (u64)h : A('b'), A('B'));
		CALL(w, __NR_capset, below(w, 8) ? (u64)h : A('b'), A('b'));
		break;
	}
	case 12: CALL(w, __NR_getrusage, below(w, 2) ? 0 : below(w, 2) ? 1 : -1, A('b')); break;
	default: CALL(w, __NR_sethostname, A('b'), below(w, 2) ? below(w, 65) : A('n')); CALL(w, __NR_uname, scratch(w, 400)); CALL(w, __NR_setdomainname, A('b'), A('n'));
	}
}

void limits(struct worker *w)
{
	u64 *l = (u64 *)scratch(w, 16), which = A('H') + (below(w, 2) ? 8 : 0);
	CALL(w, __NR_getrlimit, which, A('b'));
	if (below(w, 2) && CALL(w, __NR_prlimit64, A('Q'), which, 0, l) == 0) { // as it is, or nearly
		if (below(w, 30) == 0)
			l[0] = A('n');
		CALL(w, __NR_setrlimit, which, l);
		CALL(w, __NR_prlimit64, 0, which, l, A('B'));
	} else if (below(w, 60) == 0) {
		CALL(w, __NR_setrlimit, which, A('b'));
	} else {
		l[0] = 2, l[1] = 1;
		CALL(w, __NR_setrlimit, which, l);
		CALL(w, __NR_prlimit64, A('Q'), which, below(w, 2) ? (u64)l : 1, A('B'));
	}
	l[0] = FDS, l[1] = 4096;
	CALL(w, __NR_prlimit64, 0, 7, l, 0);
}

void affinities(struct worker *w)
{
	u64 *set = (u64 *)scratch(w, 128);
	for (int i = 0; i < 16; i++)
		set[i] = 0;
	set[0] = below(w, 4) ? -1ul : A('.');
	CALL(w, __NR_sched_setaffinity, A('P'), below(w, 4) ? 128 : A('n'), below(w, 8) ? (u64)set : A('b'));
	CALL(w, __NR_sched_getaffinity, A('P'), below(w, 4) ? 128 : A('n'), A('b'));
	CALL(w, __NR_sched_setaffinity, 0, 8, ({ set[0] = -1ul; set; }));
}

void schedulers(struct worker *w)
{
	u32 *param = (u32 *)scratch(w, 64);
	param[0] = below(w, 4) ? 0 : A('i');
	u64 policy = below(w, 8) ? (param[0] ? 1 + below(w, 2) : below(w, 2) * 3) : A('H');
	CALL(w, __NR_sched_setscheduler, A('P'), policy, below(w, 8) ? (u64)param : A('b'));
	CALL(w, __NR_sched_getscheduler, A('P'));
	CALL(w, __NR_sched_getparam, A('P'), A('b'));
	CALL(w, __NR_sched_setparam, A('P'), below(w, 8) ? (u64)param : A('b'));
	CALL(w, __NR_sched_get_priority_max, A('H'));
	CALL(w, __NR_sched_get_priority_min, A('H'));
	CALL(w, __NR_sched_rr_get_interval, A('P'), A('b'));
	param[0] = below(w, 8) ? 48 : A('n'), param[1] = below(w, 4) ? 0 : A('H'), param[2] = param[3] = 0, param[4] = below(w, 4) ? 0 : A('i'), param[5] = 0;
	for (int i = 6; i < 14; i++)
		param[i] = below(w, 30) ? 0 : A('.');
	CALL(w, __NR_sched_setattr, A('P'), below(w, 8) ? (u64)param : A('b'), A('0'));
	CALL(w, __NR_sched_getattr, A('P'), A('b'), below(w, 8) ? 48 + below(w, 9) : A('n'), A('0'));
	param[0] = 0;
	raw(__NR_sched_setscheduler, 0, 0, (u64)param, 0, 0, 0);
}

void priorities(struct worker *w)
{
	CALL(w, __NR_getpriority, below(w, 8) ? below(w, 3) : A('.'), below(w, 2) ? 0 : A('P'));
	CALL(w, __NR_setpriority, below(w, 8) ? below(w, 3) : A('.'), below(w, 2) ? 0 : A('P'), A('i'));
	raw(__NR_setpriority, 0, 0, 0, 0, 0, 0);
}

void prctls(struct worker *w)
{
	static const u64 ops[] = {1, 2, 3, 4, 7, 8, 15, 16, 21, 22, 23, 24, 25, 26, 27, 29, 30, 33, 36, 37, 38, 39, 40, 41, 42, 47, 0x53564d41, 99};
	u64 op = below(w, 12) ? ops[below(w, sizeof ops / 8)] : A('.');
	u64 second = op == 15 || op == 16 || op == 2 || op == 37 || op == 40 || op == 25 ? A('b') : A('i');
	if (op == 22 || op == 26) // seccomp, and the cycle counter
		second = 77;
	CALL(w, __NR_prctl, op, second, A('0'), A('0'), A('0'));
}

void archs(struct worker *w)
{
	static const u64 ops[] = {0x1001, 0x1002, 0x1003, 0x1004, 0x1011, 0x1012, 0x1021, 0x2001};
	u64 op = ops[below(w, 8)];
	CALL(w, __NR_arch_prctl, op, op == 0x1012 ? 1 : A('b'));
	__asm__ volatile("mov %0, %%gs" : : "r"(0));
}

void reboots(struct worker *w)
{
	CALL(w, __NR_reboot, below(w, 2) ? 0xfee1dead : A('.'), below(w, 2) ? 672274793 : A('.'), below(w, 2) ? 0 : 0x89abcdef, 0);
	CALL(w, __NR_reboot, A('.'), A('.') | 1ul << 40 | 2, 0x11, A('b'));
}

// rest is what is made rarely.
void rest(struct worker *w)
{
	switch (below(w, 8)) {
	case 0: CALL(w, __NR_clock_nanosleep, below(w, 2), 1, ({ u64 *t = (u64 *)scratch(w, 16); t[0] = 0, t[1] = 1; t; }), 0); break;
	case 1: CALL(w, __NR_clock_adjtime, 0, A('b')); break;
	case 2: CALL(w, __NR_getrusage, 0, A('b')); break;
	case 3: CALL(w, __NR_setitimer, below(w, 3), scratch(w, 64) & ~0ul, A('B')); break;
	case 4: CALL(w, __NR_getrandom, A('b'), A('n'), below(w, 4)); break;
	case 5: CALL(w, __NR_personality, below(w, 2) ? 0xffffffff : 0); break;
	case 6: CALL(w, __NR_membarrier, 16, 0); CALL(w, __NR_membarrier, 8, 0); break;
	default: CALL(w, __NR_clock_settime, 0, 1);
	}
}

// absents are numbers that no call has, or that need other processes.
void absents(struct worker *w)
{
	static const u64 nrs[] = {__NR_socket, __NR_socketpair, __NR_connect, __NR_accept, __NR_accept4, __NR_sendto, __NR_recvfrom, __NR_sendmsg, __NR_recvmsg, __NR_shutdown, __NR_bind, __NR_listen,
		__NR_getsockname, __NR_getpeername, __NR_setsockopt, __NR_getsockopt, __NR_wait4, __NR_waitid, __NR_inotify_init, __NR_inotify_init1, __NR_inotify_add_watch, __NR_inotify_rm_watch,
		__NR_signalfd, __NR_signalfd4, __NR_vhangup, __NR_fork, __NR_vfork, __NR_ptrace, __NR_io_uring_setup, __NR_bpf, 335, 400, 460, 511, 0x1000, 0x1001, 0x1100, 0x2000, 0x7fffffff, -1ul, 1ul << 32, 1ul << 63};
	u64 nr = nrs[below(w, sizeof nrs / 8)];
	if (nr == __NR_execve)
		return;
	if (below(w, 4) == 0)
		nr = 0x1000 + below(w, 0x200); // what only services may ask
	CALL(w, nr, A('b'), A('b'), A('b'), A('b'), A('b'), A('b'));
	if (below(w, 8) == 0)
		CALL(w, __NR_execve, A('s'), below(w, 2) ? 0 : A('b'), 0);
}
