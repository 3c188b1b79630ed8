// Lines on the console, which is opened anew for each: no call can take it
// away for long.
#include "hostile.h"
#include <asm/unistd.h>

static char text[1 << 16];
static u64 length;
static volatile int busy;

static void letter(char c)
{
	if (length < sizeof text)
		text[length++] = c;
}

static void string(const char *s)
{
	while (*s)
		letter(*s++);
}

static void number(u64 v, u64 base)
{
	char digits[24];
	int n = 0;
	do
		digits[n++] = "0123456789abcdef"[v % base];
	while (v /= base);
	while (n)
		letter(digits[--n]);
}

static int flush(void)
{
	long fd = -1;
	for (int tries = 0; (fd = raw(__NR_open, (u64) "/dev/console", 1, 0, 0, 0, 0)) < 0; tries++) {
		if (tries == 100) // it became somebody who may not, or it is elsewhere
			raw(__NR_exit_group, 77, 0, 0, 0, 0, 0);
		u64 limit[] = {FDS + tries, 4096};
		raw(__NR_prlimit64, 0, 7, (u64)limit, 0, 0, 0);
		raw(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	}
	for (u64 at = 0; at < length;) {
		long n = raw(__NR_write, fd, (u64)text + at, length - at, 0, 0, 0);
		if (n <= 0 && n != -4)
			break;
		if (n > 0)
			at += n;
	}
	raw(__NR_close, fd, 0, 0, 0, 0, 0);
	length = 0;
	return 1;
}

// say writes a line: a word, and numbers in hexadecimal.
void say(const char *kind, const u64 *values, int n)
{
	while (__sync_lock_test_and_set(&busy, 1))
		raw(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
	string(kind);
	for (int i = 0; i < n; i++) {
		letter(' ');
		number(values[i], 16);
	}
	letter('\n');
	flush();
	busy = 0;
}

static u32 goodSaid[NSYS], badSaid[NSYS][NERR];

// report writes what was counted since it last did: a line for each call with
// its number, successes, and errno:times.
int report(void)
{
	if (__sync_lock_test_and_set(&busy, 1))
		return 0;
	for (int nr = 0; nr < NSYS; nr++) {
		int any = 0;
		for (int e = 0; e <= NERR; e++) {
			u32 *now = e == NERR ? &good[nr] : &bad[nr][e], *said = e == NERR ? &goodSaid[nr] : &badSaid[nr][e];
			u32 n = *now;
			if (n == *said)
				continue;
			if (!any) {
				string("COUNT ");
				number(nr, 10);
			}
			any = 1;
			letter(' ');
			number(e == NERR ? 0 : e, 10);
			letter(':');
			number(n - *said, 10);
			*said = n;
		}
		if (any)
			letter('\n');
	}
	string("BEAT ");
	number(total, 10);
	letter('\n');
	int ok = flush();
	busy = 0;
	return ok;
}
