// sched: what a program observes of scheduling calls, threads and their ids.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

static void *thread(void *x) {
	printf("in a thread: tid is another %d, pid the same %d\n", gettid() != getpid(), getpid() == *(int *)x);
	char name[16] = "";
	prctl(PR_GET_NAME, name);
	printf("name of a new thread: %s\n", name);
	printf("nice of a new thread: %d\n", getpriority(PRIO_PROCESS, 0));
	return 0;
}

static volatile int ran;
static void *flag(void *x) {
	ran = 1;
	return x;
}

int main(void) {
	int pid = getpid();
	struct sched_param p = {0};
	say("getscheduler", sched_getscheduler(0));
	p.sched_priority = 10;
	say("FIFO", sched_setscheduler(0, SCHED_FIFO, &p));
	say("getscheduler", sched_getscheduler(0));
	p.sched_priority = 0;
	say("getparam", sched_getparam(0, &p));
	printf("priority %d\n", p.sched_priority);
	p.sched_priority = 100;
	say("priority 100", sched_setscheduler(0, SCHED_RR, &p));
	p.sched_priority = 1;
	say("OTHER with a priority", sched_setscheduler(0, SCHED_OTHER, &p));
	p.sched_priority = 0;
	say("BATCH", sched_setscheduler(0, SCHED_BATCH, &p));
	say("OTHER", sched_setscheduler(0, SCHED_OTHER, &p));
	say("unknown policy", sched_setscheduler(0, 77, &p));
	say("nobody", sched_getscheduler(999999));
	say("negative pid", sched_getscheduler(-1));
	int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE, 77};
	for (int i = 0; i < 6; i++) {
		say("max", sched_get_priority_max(policies[i]));
		say("min", sched_get_priority_min(policies[i]));
	}
	say("yield", sched_yield());
	say("setpriority", setpriority(PRIO_PROCESS, 0, 5));
	errno = 0;
	say("getpriority", getpriority(PRIO_PROCESS, 0));
	say("nice beyond", setpriority(PRIO_PROCESS, 0, 99));
	say("getpriority", getpriority(PRIO_PROCESS, 0));
	say("wrong kind", setpriority(9, 0, 0));
	setpriority(PRIO_PROCESS, 0, 3);
	prctl(PR_SET_NAME, "a name that is too long");
	pthread_t t;
	pthread_create(&t, 0, thread, &pid);
	pthread_join(t, 0);
	setpriority(PRIO_PROCESS, 0, 0);

	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	say("affinity", sched_setaffinity(0, sizeof one, &one));
	say("processor", sched_getcpu());
	p.sched_priority = 20;
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&a, SCHED_FIFO);
	pthread_attr_setschedparam(&a, &p);
	say("a FIFO thread", pthread_create(&t, &a, flag, 0));
	printf("it ran at once: %d\n", ran);
	pthread_join(t, 0);

	printf("membarrier has private expedited: %d\n", (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0);
	say("membarrier unregistered", syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
	say("register", syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
	say("membarrier", syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
	say("membarrier with flags", syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 77, 0));
	say("clone of a wrong kind", syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0));
	say("clone3 too small", syscall(SYS_clone3, &p, 8));
	say("rseq with flags", syscall(SYS_rseq, &p, 32, 77, 0));
	printf("end\n");
	return 0;
}
