// clocks: what a program observes of clocks, sleeps and timers.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static void say(const char *name, long r) {
	if (r == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, r);
	fflush(stdout);
}

static double now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static volatile int count, overrun, value;
static void handler(int s, siginfo_t *i, void *u) {
	(void)s, (void)u;
	count++;
	overrun = i->si_overrun;
	value = i->si_value.sival_int;
}

int main(void) {
	int ids[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, 10, 11, 77};
	for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
		struct timespec a, b;
		printf("clock %d ", ids[i]);
		say("gettime by system call", syscall(SYS_clock_gettime, ids[i], &a));
		printf("clock %d ", ids[i]);
		say("gettime", clock_gettime(ids[i], &b));
	}
	double v = now(CLOCK_MONOTONIC), s;
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	s = t.tv_sec + t.tv_nsec / 1e9;
	printf("vDSO and system call agree: %d\n", s - v >= 0 && s - v < .5);
	struct timeval tv;
	gettimeofday(&tv, 0);
	printf("gettimeofday and time agree: %d\n", tv.tv_sec - time(0) <= 1 && tv.tv_sec > 1700000000);
	int backwards = 0;
	double last = 0;
	for (int i = 0; i < 100000; i++) {
		double n = now(CLOCK_MONOTONIC);
		backwards += n < last;
		last = n;
	}
	printf("monotonic went back: %d\n", backwards);
	say("settime of monotonic", clock_settime(CLOCK_MONOTONIC, &t));
	struct timespec ms = {0, 20000000}, bad = {0, -1}, abs;
	double a = now(CLOCK_MONOTONIC);
	say("nanosleep", nanosleep(&ms, 0));
	printf("not early: %d\n", now(CLOCK_MONOTONIC) - a >= .02);
	say("nanosleep of a bad time", nanosleep(&bad, 0));
	say("nanosleep of a bad address", syscall(SYS_nanosleep, 8, 0));
	clock_gettime(CLOCK_REALTIME, &abs);
	abs.tv_nsec += 20000000;
	if (abs.tv_nsec >= 1000000000)
		abs.tv_sec++, abs.tv_nsec -= 1000000000;
	printf("absolute sleep: %d\n", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &abs, 0));
	printf("not early: %d\n", now(CLOCK_REALTIME) >= abs.tv_sec + abs.tv_nsec / 1e9 - 1e-6);
	printf("sleep on a thread's clock: %s\n", strerrorname_np(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ms, 0)));

	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGALRM, &sa, 0);
	sigaction(SIGUSR1, &sa, 0);
	struct itimerval it = {{0, 0}, {0, 20000}}, old;
	say("setitimer", setitimer(ITIMER_REAL, &it, 0));
	pause();
	printf("alarms: %d\n", count);
	alarm(100);
	say("alarm left", alarm(0));
	it.it_value.tv_usec = 1000000;
	say("setitimer of a bad time", setitimer(ITIMER_REAL, &it, &old));
	say("getitimer of a wrong one", getitimer(9, &old));
	timer_t id;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 55};
	say("timer_create", timer_create(CLOCK_MONOTONIC, &ev, &id));
	struct itimerspec its = {{0, 0}, {0, 20000000}}, left;
	count = 0;
	say("timer_settime", timer_settime(id, 0, &its, 0));
	pause();
	printf("signals: %d, value %d, overrun %d\n", count, value, overrun);
	say("timer_gettime", timer_gettime(id, &left));
	printf("left: %ld\n", left.it_value.tv_nsec);
	say("timer_getoverrun", timer_getoverrun(id));
	say("timer_delete", timer_delete(id));
	say("timer_create of a wrong clock", timer_create(77, &ev, &id));
	struct rusage ru;
	say("getrusage", getrusage(RUSAGE_SELF, &ru));
	printf("ran for less than a minute: %d\n", ru.ru_utime.tv_sec + ru.ru_stime.tv_sec < 60);
	say("getrusage of a wrong one", getrusage(77, &ru));
	struct tms tm;
	printf("times: %d\n", times(&tm) != -1);
	printf("end\n");
	return 0;
}
