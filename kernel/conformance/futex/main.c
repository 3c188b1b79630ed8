// futex: what a program observes of futex(2).
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void say(const char *name, long r) {
	if (r == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, r);
	fflush(stdout);
}

static long fut(void *a, int op, uint32_t v, const void *t, void *b, uint32_t v3) { return syscall(SYS_futex, a, op, v, t, b, v3); }

static uint32_t word, other;
static volatile int started, done;
static int op;
static uint32_t bits;

static void *waiter(void *x) {
	(void)x;
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	long r = fut(&word, op, word, 0, 0, bits);
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
	return (void *)r;
}

static pthread_t threads[8];
static void start(int n, int o, uint32_t b) {
	op = o, bits = b, started = done = 0;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], 0, waiter, 0);
	while (started < n)
		usleep(1000);
	usleep(50000);
}
static void join(int n) {
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], 0);
	printf("all %d woken\n", done);
}

static pthread_mutex_t robust;
static void *dies(void *x) {
	pthread_mutex_lock(&robust);
	return x;
}

int main(void) {
	struct timespec ms = {0, 1000000}, bad = {0, 1000000000}, neg = {-1, 0};
	say("wait for another value", fut(&word, FUTEX_WAIT, 1, 0, 0, 0));
	say("timeout", fut(&word, FUTEX_WAIT, 0, &ms, 0, 0));
	say("bad timeout", fut(&word, FUTEX_WAIT, 0, &bad, 0, 0));
	say("negative timeout", fut(&word, FUTEX_WAIT, 0, &neg, 0, 0));
	say("bad address", fut((void *)8, FUTEX_WAIT, 0, &ms, 0, 0));
	say("odd address", fut((char *)&word + 2, FUTEX_WAIT, 0, &ms, 0, 0));
	say("no bits", fut(&word, FUTEX_WAIT_BITSET, 0, &ms, 0, 0));
	say("absolute and past", fut(&word, FUTEX_WAIT_BITSET, 0, &ms, 0, ~0u));
	say("wake nobody", fut(&word, FUTEX_WAKE, 1, 0, 0, 0));
	say("wake without bits", fut(&word, FUTEX_WAKE_BITSET, 1, 0, 0, 0));
	say("unknown operation", fut(&word, 99, 0, 0, 0, 0));

	for (int private = 0; private <= FUTEX_PRIVATE_FLAG; private += FUTEX_PRIVATE_FLAG) {
		start(3, FUTEX_WAIT | private, 0);
		say("wake 2 of 3", fut(&word, FUTEX_WAKE | private, 2, 0, 0, 0));
		usleep(20000);
		say("wake the rest", fut(&word, FUTEX_WAKE | private, 10, 0, 0, 0));
		join(3);
	}
	start(2, FUTEX_WAIT_BITSET, 2);
	say("wake other bits", fut(&word, FUTEX_WAKE_BITSET, 9, 0, 0, 4));
	say("wake these bits", fut(&word, FUTEX_WAKE_BITSET, 9, 0, 0, 6));
	join(2);
	start(4, FUTEX_WAIT, 0);
	say("cmp_requeue, another value", fut(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 5));
	say("cmp_requeue 1 and 2", fut(&word, FUTEX_CMP_REQUEUE, 1, (void *)2, &other, 0));
	say("wake what is left", fut(&word, FUTEX_WAKE, 9, 0, 0, 0));
	say("wake what was moved", fut(&other, FUTEX_WAKE, 9, 0, 0, 0));
	join(4);
	start(2, FUTEX_WAIT, 0);
	other = 5;
	say("wake_op: other += 3 if it was 5", fut(&word, FUTEX_WAKE_OP, 2, (void *)1, &other, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 5)));
	printf("other: %u\n", other);
	join(2);
	say("wake_op: andn, ne", fut(&word, FUTEX_WAKE_OP, 1, (void *)1, &other, FUTEX_OP(FUTEX_OP_ANDN, 8, FUTEX_OP_CMP_NE, 8)));
	printf("other: %u\n", other);
	say("wake_op: shift", fut(&word, FUTEX_WAKE_OP, 1, (void *)1, &other, FUTEX_OP(FUTEX_OP_OR | FUTEX_OP_OPARG_SHIFT, 5, FUTEX_OP_CMP_GE, 0)));
	printf("other: %u\n", other);

	pthread_mutexattr_t at;
	pthread_mutexattr_init(&at);
	pthread_mutexattr_setrobust(&at, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &at);
	pthread_t t;
	pthread_create(&t, 0, dies, 0);
	pthread_join(t, 0);
	printf("robust mutex of a dead thread: %s\n", strerrorname_np(pthread_mutex_lock(&robust)));
	printf("made consistent: %d\n", pthread_mutex_consistent(&robust));
	say("set_robust_list of a wrong size", syscall(SYS_set_robust_list, &at, 12));
	printf("end\n");
	return 0;
}
