// signals: what a program observes of signals: delivery, masks, stacks,
// siginfo, restarts, faults. Not here: floating-point exceptions of SSE, which
// QEMU 7.2 does not raise.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void say(const char *name, long r) {
	if (r == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, r);
	fflush(stdout);
}

static volatile int count, number, code, onstack;
static volatile long value;
static void *volatile address;
static sigjmp_buf back;

static void handler(int s, siginfo_t *i, void *u) {
	count++;
	number = s;
	code = i->si_code;
	value = i->si_value.sival_int;
	stack_t st;
	sigaltstack(0, &st);
	onstack = st.ss_flags;
	(void)u;
}

static void jump(int s, siginfo_t *i, void *u) {
	number = s;
	code = i->si_code;
	address = i->si_addr;
	(void)u;
	siglongjmp(back, 1);
}

static void set(int s, void (*f)(int, siginfo_t *, void *), int flags) {
	struct sigaction a = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
	sigaction(s, &a, 0);
}

static volatile long zero;
static volatile int *volatile nowhere = (int *)16;

#define FAULT(name, what) \
	if (!sigsetjmp(back, 1)) { what; printf("%s: nothing\n", name); } \
	else printf("%s: signal %d code %d\n", name, number, code)

static void faults(void) {
	int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	for (unsigned i = 0; i < 5; i++)
		set(all[i], jump, SA_ONSTACK);
	FAULT("read of address 16", *nowhere);
	printf("si_addr of it: %ld\n", (long)address);
	int *ro = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FAULT("write to a read-only page", *(volatile int *)ro = 1);
	printf("si_addr of it is the page: %d\n", address == (void *)ro);
	FAULT("jump to a page without execution", ((void (*)(void))ro)());
	FAULT("division by zero", zero = 1 / zero);
	FAULT("undefined instruction", __asm__ volatile("ud2"));
	FAULT("int3", __asm__ volatile("int3"));
	FAULT("hlt", __asm__ volatile("hlt"));
	FAULT("non-canonical address", *(volatile int *)0x8000000000000000);
	for (unsigned i = 0; i < 5; i++)
		signal(all[i], SIG_DFL);
}

static void *sender(void *arg) {
	pthread_t t = *(pthread_t *)arg;
	usleep(30000);
	pthread_kill(t, SIGUSR1);
	usleep(30000);
	return 0;
}

static int pipefd[2];
static void *sendwrite(void *arg) {
	sender(arg);
	if (write(pipefd[1], "x", 1)) {}
	return 0;
}

static void restarts(void) {
	pthread_t me = pthread_self(), t;
	char b;
	for (int restart = 0; restart < 2; restart++) {
		set(SIGUSR1, handler, restart ? SA_RESTART : 0);
		if (pipe(pipefd)) {}
		count = 0;
		pthread_create(&t, 0, sendwrite, &me);
		errno = 0;
		say(restart ? "read with SA_RESTART" : "read without", read(pipefd[0], &b, 1));
		pthread_join(t, 0);
		printf("handlers run: %d\n", count);
		struct timespec ts = {5, 0}, rem = {0, 0};
		pthread_create(&t, 0, sender, &me);
		say(restart ? "nanosleep with SA_RESTART" : "nanosleep without", nanosleep(&ts, &rem));
		printf("time left: %d\n", rem.tv_sec == 4);
		pthread_join(t, 0);
		close(pipefd[0]);
		close(pipefd[1]);
	}
}

int main(void) {
	sigset_t s, o;
	set(SIGUSR1, handler, 0);
	say("raise", raise(SIGUSR1));
	printf("got %d code %d\n", number, code);
	kill(getpid(), SIGUSR1);
	printf("kill: code %d\n", code);
	union sigval v = {.sival_int = 4711};
	say("sigqueue", sigqueue(getpid(), SIGUSR1, v));
	printf("code %d value %ld\n", code, value);
	say("kill with signal 65", kill(getpid(), 65));
	say("kill of nobody", kill(999999, 0));
	say("kill with 0", kill(getpid(), 0));
	say("tgkill of another group", syscall(SYS_tgkill, 1 << 20, gettid(), 0));

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &s, &o);
	count = 0;
	for (int i = 0; i < 3; i++) {
		raise(SIGUSR1);
		v.sival_int = i;
		sigqueue(getpid(), SIGRTMIN, v);
	}
	sigpending(&o);
	printf("pending: %d %d %d\n", sigismember(&o, SIGUSR1), sigismember(&o, SIGRTMIN), sigismember(&o, SIGUSR2));
	printf("handlers run while blocked: %d\n", count);
	siginfo_t i;
	struct timespec ts = {0, 1000000};
	for (int k = 0; k < 5; k++) {
		int r = sigtimedwait(&s, &i, &ts);
		if (r == -1)
			say("sigtimedwait", r);
		else
			printf("sigtimedwait: %s value %d\n", r == SIGUSR1 ? "SIGUSR1" : "SIGRTMIN", r == SIGUSR1 ? 0 : i.si_value.sival_int);
	}
	raise(SIGUSR1);
	sigset_t none;
	sigemptyset(&none);
	say("sigsuspend", sigsuspend(&none));
	sigprocmask(SIG_BLOCK, 0, &o);
	printf("mask after sigsuspend: %d, handlers %d\n", sigismember(&o, SIGUSR1), count);
	sigprocmask(SIG_UNBLOCK, &s, 0);

	signal(SIGUSR2, SIG_IGN);
	say("raise of an ignored one", raise(SIGUSR2));
	set(SIGUSR2, handler, SA_RESETHAND);
	raise(SIGUSR2);
	struct sigaction a;
	sigaction(SIGUSR2, 0, &a);
	printf("SA_RESETHAND: %d\n", a.sa_handler == SIG_DFL);
	say("sigaction of SIGKILL", sigaction(SIGKILL, &a, 0));

	stack_t st = {.ss_sp = malloc(65536), .ss_size = 65536};
	say("sigaltstack", sigaltstack(&st, 0));
	set(SIGUSR1, handler, SA_ONSTACK);
	raise(SIGUSR1);
	printf("flags of the stack in a handler: %d\n", onstack);
	faults();
	restarts();
	printf("end\n");
	return 0;
}
