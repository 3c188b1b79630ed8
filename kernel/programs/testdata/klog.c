// What syslog(2) says, as user 0 and as another.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/time.h>
#include <unistd.h>

static char log[1 << 17];

static int call(int what, char *at, int n)
{
	int r = klogctl(what, at, n);
	return r < 0 ? -errno : r;
}

static void handler(int s) { (void)s; }

int main(void)
{
	int all = call(3, log, sizeof log), few = call(3, log, 100);
	printf("size %d, unread %d, all %d\n", call(10, 0, 0) > 1000, call(9, 0, 0) == all, all > 100);
	printf("the last lines: %d %d %d\n", few > 0 && few <= 100, !strncmp(log, "<6>", 3), log[few - 1] == '\n');
	printf("errors: %d %d %d %d %d\n", call(3, 0, 9), call(3, log, -1), call(3, (char *)1, 5000), call(11, log, 9), call(8, 0, 9));
	printf("nothing: %d %d %d %d %d\n", call(0, 0, 0), call(1, 0, 0), call(3, log, 0), call(6, 0, 0), call(7, 0, 0));
	int shown = call(4, log, sizeof log), again = call(3, log, sizeof log);
	printf("cleared: %d %d\n", shown == all, again);
	int first = call(2, log, 50), rest = call(2, log + 50, sizeof log - 50);
	printf("read in parts: %d %d %d\n", first, rest == all - 50, call(9, 0, 0));
	struct sigaction a = {.sa_handler = handler};
	sigaction(SIGALRM, &a, 0);
	struct itimerval in = {.it_value.tv_usec = 20000};
	setitimer(ITIMER_REAL, &in, 0);
	printf("a wait ends: %d\n", call(2, log, 50));
	if (setuid(1000))
		return 1;
	printf("another user: %d %d %d %d\n", call(3, log, 9), call(10, 0, 0) > 1000, call(2, log, 9), call(5, 0, 0));
	return 0;
}
