// Prints how a kernel shares one processor among threads, one figure a line:
// NAME VALUE UNIT. Threads that compete are held until all of them exist.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void pause_for(int64_t ns)
{
	struct timespec t = {ns / 1000000000L, ns % 1000000000L};
	nanosleep(&t, NULL);
}

static void policy(int policy, int priority)
{
	struct sched_param p = {.sched_priority = priority};
	if (pthread_setschedparam(pthread_self(), policy, &p))
		perror("pthread_setschedparam");
}

static atomic_int stop;

// A hog spins until stop and leaves its time on the processor.
struct hog {
	pthread_t id;
	int nice;
	int64_t used;
};

static void *spin(void *arg)
{
	struct hog *h = arg;
	if (h->nice)
		setpriority(PRIO_PROCESS, syscall(SYS_gettid), h->nice);
	int64_t from = now(CLOCK_THREAD_CPUTIME_ID);
	while (!stop)
		;
	h->used = now(CLOCK_THREAD_CPUTIME_ID) - from;
	return NULL;
}

static void start(struct hog *h, int n)
{
	stop = 0;
	for (int i = 0; i < n; i++)
		pthread_create(&h[i].id, NULL, spin, &h[i]);
}

static void end(struct hog *h, int n)
{
	stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(h[i].id, NULL);
}

static void shares(void)
{
	struct hog h[10] = {0};
	policy(SCHED_FIFO, 50); // starts and stops all at once
	start(h, 10);
	// They inherit the policy: SCHED_OTHER is what they are to have.
	struct sched_param none = {0};
	for (int i = 0; i < 10; i++)
		pthread_setschedparam(h[i].id, SCHED_OTHER, &none);
	pause_for(1000 * MS);
	end(h, 10);
	int64_t least = h[0].used, most = h[0].used, sum = 0;
	for (int i = 0; i < 10; i++) {
		least = h[i].used < least ? h[i].used : least;
		most = h[i].used > most ? h[i].used : most;
		sum += h[i].used;
	}
	printf("share-least %.2f %%\nshare-most %.2f %%\n", 1000.0 * least / sum, 1000.0 * most / sum);
	struct hog n[2] = {{0}, {.nice = 5}};
	start(n, 2);
	for (int i = 0; i < 2; i++)
		pthread_setschedparam(n[i].id, SCHED_OTHER, &none);
	pause_for(1000 * MS);
	end(n, 2);
	printf("nice-5 %.3f ratio\n", (double)n[0].used / n[1].used);
	policy(SCHED_OTHER, 0);
}

static int64_t late[2000];

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// lateness sleeps n times for 1 ms and prints how late it woke.
static void lateness(const char *name, int n)
{
	for (int i = 0; i < n; i++) {
		int64_t due = now(CLOCK_MONOTONIC) + MS;
		struct timespec t = {due / 1000000000L, due % 1000000000L};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		late[i] = now(CLOCK_MONOTONIC) - due;
	}
	qsort(late, n, sizeof *late, by_value);
	printf("%s-p99 %.1f us\n%s-max %.1f us\n", name, late[n * 99 / 100] / 1e3, name, late[n - 1] / 1e3);
}

static sem_t ring;
static _Atomic int64_t rung;
static int64_t slowest;

static void *answer(void *arg)
{
	(void)arg;
	policy(SCHED_FIFO, 10);
	for (int i = 0; i < 200; i++) {
		sem_wait(&ring);
		int64_t took = now(CLOCK_MONOTONIC) - rung;
		slowest = took > slowest ? took : slowest;
	}
	return NULL;
}

static void fifo(void)
{
	struct hog h[1] = {0};
	start(h, 1);
	lateness("other-beside-hog", 500);
	policy(SCHED_FIFO, 20);
	lateness("fifo-beside-hog", 500);
	// A call that services answer is not behind the hog either.
	int64_t worst = 0;
	for (int i = 0; i < 200; i++) {
		struct stat s;
		pause_for(MS / 10);
		int64_t from = now(CLOCK_MONOTONIC);
		stat("/dev/null", &s);
		int64_t took = now(CLOCK_MONOTONIC) - from;
		worst = took > worst ? took : worst;
	}
	printf("fifo-forwarded-max %.1f us\n", worst / 1e3);
	policy(SCHED_OTHER, 0);
	end(h, 1);
	// Who is woken by one that computes on runs before that goes on.
	pthread_t id;
	sem_init(&ring, 0, 0);
	pthread_create(&id, NULL, answer, NULL);
	pause_for(5 * MS);
	for (int i = 0; i < 200; i++) {
		rung = now(CLOCK_MONOTONIC);
		sem_post(&ring);
	}
	pthread_join(id, NULL);
	printf("fifo-wake-max %.1f us\n", slowest / 1e3);
}

static int64_t gap_sum, gaps;

// turn spins and notes for how long it did not run.
static void *turn(void *arg)
{
	policy(SCHED_RR, 10);
	int64_t last = now(CLOCK_MONOTONIC), until = last + 2000 * MS;
	while (last < until) {
		int64_t t = now(CLOCK_MONOTONIC);
		if (arg && t - last > 5 * MS && t < until - 250 * MS) {
			gap_sum += t - last;
			gaps++;
		}
		last = t;
	}
	return NULL;
}

static void rr(void)
{
	pthread_t id[2];
	struct timespec t;
	policy(SCHED_FIFO, 30);
	pthread_create(&id[0], NULL, turn, NULL);
	pthread_create(&id[1], NULL, turn, &id);
	pthread_join(id[0], NULL);
	pthread_join(id[1], NULL);
	policy(SCHED_RR, 10);
	sched_rr_get_interval(0, &t);
	policy(SCHED_OTHER, 0);
	printf("rr-interval %.1f ms\nrr-slice %.1f ms\n", t.tv_sec * 1e3 + t.tv_nsec / 1e6, gaps ? gap_sum / gaps / 1e6 : 0.0);
}

enum { REGION = 32 << 20 };
static const char *operation;

static char *region(void)
{
	char *p = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, REGION, MADV_NOHUGEPAGE);
	return p;
}

static void *operate(void *arg)
{
	(void)arg;
	int fd = open("/scratch", O_RDWR | O_CREAT, 0600);
	while (!stop) {
		char *p = region();
		if (!strcmp(operation, "mlock")) {
			mlock(p, REGION);
		} else if (!strcmp(operation, "file")) {
			memset(p, 1, 16 << 20);
			pwrite(fd, p, 16 << 20, 0);
			pread(fd, p, 16 << 20, 0);
		} else if (!strcmp(operation, "fallocate")) {
			syscall(SYS_fallocate, fd, 0, 0L, (long)REGION);
			ftruncate(fd, 0);
		} else {
			madvise(p, REGION, MADV_POPULATE_WRITE);
			if (!strcmp(operation, "mremap"))
				p = mremap(p, REGION, 2 * REGION, MREMAP_MAYMOVE), munmap(p + REGION, REGION);
			else if (!strcmp(operation, "madvise"))
				madvise(p, REGION, MADV_DONTNEED);
		}
		munmap(p, REGION);
	}
	close(fd);
	unlink("/scratch");
	return NULL;
}

static void beside(void)
{
	static const char *operations[] = {"munmap", "mlock", "mremap", "madvise", "file", "fallocate"};
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		char name[40];
		pthread_t id;
		operation = operations[i];
		stop = 0;
		pthread_create(&id, NULL, operate, NULL);
		snprintf(name, sizeof name, "other-beside-%s", operation);
		lateness(name, 50);
		policy(SCHED_FIFO, 20);
		snprintf(name, sizeof name, "fifo-beside-%s", operation);
		lateness(name, 100);
		policy(SCHED_OTHER, 0);
		stop = 1;
		pthread_join(id, NULL);
	}
}

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec / 1e6; }

// accounting burns time in user space, then in calls, and asks where it went.
static void accounting(void)
{
	struct rusage a, b, c;
	struct tms t0, t1;
	times(&t0);
	getrusage(RUSAGE_SELF, &a);
	int64_t from = now(CLOCK_THREAD_CPUTIME_ID);
	while (now(CLOCK_THREAD_CPUTIME_ID) - from < 300 * MS)
		for (volatile int i = 0; i < 100000; i++)
			;
	getrusage(RUSAGE_SELF, &b);
	from = now(CLOCK_THREAD_CPUTIME_ID);
	char *p = region();
	while (now(CLOCK_THREAD_CPUTIME_ID) - from < 300 * MS) {
		madvise(p, 16 << 20, MADV_POPULATE_WRITE);
		madvise(p, 16 << 20, MADV_DONTNEED);
	}
	munmap(p, REGION);
	getrusage(RUSAGE_SELF, &c);
	times(&t1);
	printf("user-loop-user %.0f ms\nuser-loop-system %.0f ms\n", 1e3 * (seconds(b.ru_utime) - seconds(a.ru_utime)), 1e3 * (seconds(b.ru_stime) - seconds(a.ru_stime)));
	printf("call-loop-user %.0f ms\ncall-loop-system %.0f ms\n", 1e3 * (seconds(c.ru_utime) - seconds(b.ru_utime)), 1e3 * (seconds(c.ru_stime) - seconds(b.ru_stime)));
	printf("times-system %.0f ms\n", 1e3 * (t1.tms_stime - t0.tms_stime) / sysconf(_SC_CLK_TCK));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	shares();
	fifo();
	rr();
	beside();
	accounting();
	puts("DONE");
	return 0;
}
