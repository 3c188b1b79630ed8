// cputimers: timers of the time that a program runs: setitimer VIRTUAL and
// PROF, timer_create with clocks of CPU time, RLIMIT_CPU.
#include "../observe.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t count, code, here;
static pthread_t worker;

static void handler(int s, siginfo_t *i, void *u) {
	(void)s, (void)u;
	code = i->si_code;
	here = worker && pthread_equal(pthread_self(), worker);
	count++;
}

static int64_t now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// run works until n signals have come or the thread has run for ms.
static int run(int n, int ms) {
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
	while (count < n && now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return count >= n;
}

static void *work(void *s) {
	worker = pthread_self();
	*(int *)s = run(3, 2000);
	return 0;
}

static void itimer(const char *name, int which, int sig) {
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(sig, &a, 0);
	struct itimerval set = {{0, 20000}, {0, 20000}}, got, off = {0};
	count = 0;
	result(name, setitimer(which, &set, 0));
	getitimer(which, &got);
	say("%s interval: %ld", name, (long)got.it_interval.tv_usec);
	say("%s left: %s", name, got.it_value.tv_sec == 0 && got.it_value.tv_usec > 0 && got.it_value.tv_usec <= 24000 ? "yes" : "no");
	count = 0; // what is printed takes time too
	usleep(100000);
	say("%s asleep: %s", name, count == 0 ? "none" : "some");
	count = 0;
	int64_t from = now(CLOCK_PROCESS_CPUTIME_ID);
	say("%s three: %s", name, run(3, 2000) ? "yes" : "no");
	say("%s not early: %s", name, now(CLOCK_PROCESS_CPUTIME_ID) - from >= 40000000 ? "yes" : "no");
	say("%s code: %s", name, code == SI_KERNEL ? "SI_KERNEL" : "other");
	pthread_t t;
	int ok = 0;
	count = 0;
	pthread_create(&t, 0, work, &ok);
	pthread_join(t, 0);
	say("%s of a thread: %s %s", name, ok ? "yes" : "no", here ? "there" : "elsewhere");
	worker = 0;
	setitimer(which, &off, &got);
	say("%s was: %ld", name, (long)got.it_interval.tv_usec);
	getitimer(which, &got);
	say("%s off: %ld %ld", name, (long)got.it_value.tv_usec, (long)got.it_interval.tv_usec);
	count = 0;
	run(1, 60);
	say("%s quiet: %s", name, count == 0 ? "yes" : "no");
}

static void posix(const char *name, clockid_t clock) {
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &a, 0);
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t id;
	struct itimerspec set = {{0, 20000000}, {0, 20000000}}, got, off = {{0, 0}, {0, 0}};
	count = 0;
	if (result(name, timer_create(clock, &e, &id)) != 0)
		return;
	timer_gettime(id, &got);
	say("%s unset: %ld %ld", name, got.it_value.tv_nsec, got.it_interval.tv_nsec);
	result(name, timer_settime(id, 0, &set, 0));
	timer_gettime(id, &got);
	say("%s interval: %ld", name, got.it_interval.tv_nsec);
	count = 0; // what is printed takes time too
	usleep(100000);
	say("%s asleep: %s", name, count == 0 ? "none" : "some");
	say("%s three: %s", name, run(3, 2000) ? "yes" : "no");
	say("%s code: %s", name, code == SI_TIMER ? "SI_TIMER" : "other");
	timer_settime(id, 0, &off, 0);
	count = 0;
	run(1, 60);
	say("%s quiet: %s", name, count == 0 ? "yes" : "no");
	set.it_interval.tv_nsec = 0;
	set.it_value.tv_sec = 0;
	set.it_value.tv_nsec = 1;
	timer_settime(id, TIMER_ABSTIME, &set, 0);
	say("%s in the past: %s", name, run(1, 1000) ? "yes" : "no");
	result(name, timer_delete(id));
}

int main(void) {
	itimer("virtual", ITIMER_VIRTUAL, SIGVTALRM);
	itimer("prof", ITIMER_PROF, SIGPROF);
	posix("process", CLOCK_PROCESS_CPUTIME_ID);
	posix("thread", CLOCK_THREAD_CPUTIME_ID);
	clockid_t mine;
	pthread_getcpuclockid(pthread_self(), &mine);
	posix("own", mine);
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGXCPU, &a, 0);
	struct rlimit l = {1, 60};
	count = 0;
	result("limit", setrlimit(RLIMIT_CPU, &l));
	say("limit signal: %s", run(1, 4000) ? "yes" : "no");
	say("limit code: %s", code == SI_KERNEL ? "SI_KERNEL" : "other");
	getrlimit(RLIMIT_CPU, &l);
	say("limit then: %s", l.rlim_cur > 1 && l.rlim_max == 60 ? "grown" : "as before");
	return 0;
}
