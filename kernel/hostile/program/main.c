// hostile SEED CALLS WORKERS [TRACE]: makes that many calls, from so many
// threads, and prints what was counted. Every choice comes from the seed.
#include "hostile.h"
#include <asm/unistd.h>

u32 good[NSYS], bad[NSYS][NERR];
volatile u64 total;
int pid, tracing, nworkers;
static u64 share, weights;
static volatile int ended;

void racer(struct worker *w);
void touch(struct worker *w);

void count(long nr, long r)
{
	if ((u64)nr >= NSYS)
		nr = NSYS - 1;
	if (r < 0 && r > -NERR)
		__sync_fetch_and_add(&bad[nr][-r], 1);
	else
		__sync_fetch_and_add(&good[nr], 1);
}

long call(struct worker *w, long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	u64 arg[] = {a, b, c, d, e, f};
	for (int i = 0; i < 6; i++)
		w->arg[i] = arg[i];
	w->nr = nr;
	w->calls++;
	if (tracing) {
		u64 v[] = {w->id, nr, a, b, c, d, e, f};
		say("CALL", v, 8);
	}
	long r = raw(nr, a, b, c, d, e, f);
	if (r < 0 && r > -4096 && r <= -NERR) { // no errno value of Linux's
		u64 v[] = {w->id, nr, a, b, c, d, e, f, r};
		say("STRANGE", v, 9);
	}
	count(nr, r);
	if (__sync_add_and_fetch(&total, 1) % 20000 == 0)
		report();
	return r;
}

static void one(struct worker *w)
{
	if (w->calls - w->quiet > 40) {
		w->quiet = w->calls;
		refill(w);
	}
	u64 at = below(w, weights);
	const struct call *k = table;
	while (at >= (u64)k->weight)
		at -= k++->weight;
	if (k->recipe) {
		k->recipe(w);
		return;
	}
	u64 a[6];
	for (int i = 0; i < 6; i++)
		a[i] = i < 6 && k->kinds[i] ? argument(w, k->kinds[i]) : (u64)0xdeadbeef;
	for (int i = 0; i < 6 && a[i] == 0xdeadbeef; i++)
		;
	call(w, k->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void prepare(struct worker *w)
{
	w->tid = raw(__NR_gettid, 0, 0, 0, 0, 0, 0);
	u64 stack[] = {(u64)w, 0, STACK};
	raw(__NR_sigaltstack, (u64)stack, 0, 0, 0, 0, 0);
}

static void work(struct worker *w)
{
	prepare(w);
	if (__builtin_setjmp(w->jump)) {
		// A fault was survived.
		u64 stack[] = {(u64)w, 0, STACK};
		raw(__NR_sigaltstack, (u64)stack, 0, 0, 0, 0, 0);
	}
	w->armed = 1;
	while (!ended) {
		if (w->id == nworkers && below(w, 4))
			racer(w);
		else if (below(w, 16) == 0)
			touch(w);
		one(w);
	}
	for (;;)
		raw(__NR_exit, 0, 0, 0, 0, 0, 0);
}

static struct worker *place(int id) { return (struct worker *)(0x680000000000 + (u64)id * 4 * STACK); }

static int started;

static void start(u64 seed)
{
	struct worker *w = place(++started);
	w->id = (started - 1) % (SLOTTED - 1) + 1;
	w->rng = (seed * 1000 + started) * 0x9e3779b97f4a7c15;
	static int tid;
	run((u64)w + 3 * STACK, work, w, 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000, &tid);
}

// Strings of digits are the program's arguments.
static u64 parse(const char *s)
{
	u64 v = 0;
	while (*s >= '0' && *s <= '9')
		v = v * 10 + *s++ - '0';
	return v;
}

// watch ends calls that wait too long, and counts the threads that are lost:
// those whose signals are blocked for good.
static void watch(u64 seed)
{
	u64 pause[] = {0, 5000000}, turns = 0;
	while (total < share) {
		raw(__NR_nanosleep, (u64)pause, 0, 0, 0, 0, 0);
		for (int i = 1; i <= started; i++) {
			struct worker *w = place(i);
			if (w->lost)
				continue;
			if (w->calls != w->seen) {
				w->seen = w->calls, w->since = 0;
				continue;
			}
			w->since++;
			if (w->since > 1)
				raw(__NR_tgkill, pid, w->tid, 10 + (w->since & 1) * 25, 0, 0, 0);
			if (w->since == 400) {
				w->lost = 1;
				u64 v[] = {i, w->nr, w->arg[0], w->arg[1], w->arg[2], w->arg[3], w->arg[4], w->arg[5]};
				say("LOST", v, 8);
				if (started >= MAXWORKERS - 2)
					return;
				start(seed);
			}
		}
		if (++turns % 200 == 0)
			report();
	}
}

void begin(u64 *stack)
{
	if (stack[0] < 4)
		raw(__NR_exit_group, 2, 0, 0, 0, 0, 0);
	u64 seed = parse((char *)stack[2]);
	share = parse((char *)stack[3]), nworkers = parse((char *)stack[4]), tracing = stack[0] > 4;
	pid = raw(__NR_getpid, 0, 0, 0, 0, 0, 0);
	if (pid != 1) // what this does to others is for a machine of its own
		raw(__NR_exit_group, 3, 0, 0, 0, 0, 0);
	for (int i = 0; i < ntable; i++)
		weights += table[i].weight;
	raw(__NR_mmap, BUF, (SAFEPAGES + RACYPAGES) * PAGE, 3, 0x32, -1, 0);
	raw(__NR_mmap, MM, MMSIZE, 3, 0x4032, -1, 0);
	raw(__NR_mmap, (u64)place(0), 4 * STACK * MAXWORKERS, 3, 0x4032, -1, 0);
	prepare(place(0));
	vectors();
	u64 limit[] = {FDS, 4096};
	raw(__NR_prlimit64, 0, 7, (u64)limit, 0, 0, 0);
	raw(__NR_mkdir, (u64) "/tmp", 01777, 0, 0, 0, 0);
	raw(__NR_mkdir, (u64) "/tmp/h", 0777, 0, 0, 0, 0);
	raw(__NR_chdir, (u64) "/tmp/h", 0, 0, 0, 0, 0);
	long null = raw(__NR_open, (u64) "/dev/null", 2, 0, 0, 0, 0);
	for (int i = 0; i < 3; i++) // the console is for the program's own lines
		raw(__NR_dup2, null, i, 0, 0, 0, 0);
	for (int i = 0; i < nworkers; i++)
		start(seed);
	watch(seed);
	u64 pause[] = {0, 1};
	raw(__NR_nanosleep, (u64)pause, 0, 0, 0, 0, 0);
	for (int tries = 0; !report() && tries < 1000; tries++)
		raw(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	u64 v[] = {total, started};
	say("DONE", v, 2);
	raw(__NR_exit_group, 0, 0, 0, 0, 0, 0);
}
