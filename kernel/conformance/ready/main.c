// ready: what a program observes of pipes, eventfd, timerfd, epoll, poll and
// select.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *name, long r) {
	if (r == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, r);
	fflush(stdout);
}

static char buf[1 << 17];

static void pipes(void) {
	int p[2], n;
	say("pipe2", pipe2(p, O_NONBLOCK));
	say("read of an empty pipe", read(p[0], buf, 1));
	say("write", write(p[1], "hello", 5));
	say("FIONREAD", ioctl(p[0], FIONREAD, &n));
	printf("bytes: %d\n", n);
	say("read 3", read(p[0], buf, 3));
	say("read the rest", read(p[0], buf, 100));
	say("fill", write(p[1], buf, sizeof buf));
	say("one more", write(p[1], buf, 1));
	say("F_GETPIPE_SZ", fcntl(p[0], F_GETPIPE_SZ));
	say("F_SETPIPE_SZ too small", fcntl(p[0], F_SETPIPE_SZ, 4096));
	say("F_SETPIPE_SZ larger", fcntl(p[0], F_SETPIPE_SZ, 100000));
	say("write again", write(p[1], buf, sizeof buf));
	say("read from the writing end", read(p[1], buf, 1));
	say("write to the reading end", write(p[0], buf, 1));
	say("lseek", lseek(p[0], 0, SEEK_SET));
	say("pread", pread(p[0], buf, 1, 0));
	struct iovec v[2] = {{buf, 10}, {buf + 10, 10}};
	say("readv", readv(p[0], v, 2));
	close(p[1]);
	long sum = 0, r;
	while ((r = read(p[0], buf, sizeof buf)) > 0)
		sum += r;
	printf("drained %ld, then %ld\n", sum, r);
	close(p[0]);
	pipe2(p, 0);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	say("write without readers", write(p[1], "x", 1));
	struct pollfd f = {p[1], POLLOUT, 0};
	poll(&f, 1, 0);
	printf("poll of it: %#x\n", f.revents);
	close(p[1]);
}

static void events(void) {
	uint64_t v;
	int e = eventfd(3, EFD_NONBLOCK);
	say("read eventfd", read(e, &v, 8));
	printf("value %lu\n", v);
	say("read again", read(e, &v, 8));
	v = 0xfffffffffffffffe;
	say("write the largest", write(e, &v, 8));
	v = 1;
	say("one more", write(e, &v, 8));
	say("short read", read(e, &v, 4));
	close(e);
	e = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE);
	say("semaphore", read(e, &v, 8));
	printf("value %lu\n", v);
	say("semaphore", read(e, &v, 8));
	say("semaphore", read(e, &v, 8));
	close(e);
	say("timerfd of a wrong clock", timerfd_create(99, 0));
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	say("read of an unarmed timerfd", read(t, &v, 8));
	struct itimerspec s = {{0, 10000000}, {0, 10000000}}, o;
	say("settime", timerfd_settime(t, 0, &s, 0));
	usleep(55000);
	say("read", read(t, &v, 8));
	printf("expired 4 to 6 times: %d\n", v >= 4 && v <= 6);
	say("gettime", timerfd_gettime(t, &o));
	printf("interval %ld, left at most that: %d\n", o.it_interval.tv_nsec, o.it_value.tv_nsec <= 10000000);
	s.it_value.tv_nsec = 1000000000;
	say("bad time", timerfd_settime(t, 0, &s, 0));
	close(t);
}

static void tell(const char *name, int e) {
	struct epoll_event v[8];
	int n = epoll_wait(e, v, 8, 0);
	printf("%s:", name);
	for (int i = 0; i < n; i++)
		printf(" %#x/%lu", v[i].events, v[i].data.u64);
	printf(" (%d)\n", n);
}

static int wake_fd;
static void *waker(void *x) {
	usleep(50000);
	uint64_t one = 1;
	if (write(wake_fd, &one, 8)) {}
	return x;
}

static void epolls(void) {
	int e = epoll_create1(0), p[2];
	pipe2(p, O_NONBLOCK);
	struct epoll_event v = {EPOLLIN, {.u64 = 1}}, w = {EPOLLOUT | EPOLLET, {.u64 = 2}};
	say("add", epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v));
	say("add twice", epoll_ctl(e, EPOLL_CTL_ADD, p[0], &v));
	say("add the other end", epoll_ctl(e, EPOLL_CTL_ADD, p[1], &w));
	say("add a closed one", epoll_ctl(e, EPOLL_CTL_ADD, 777, &w));
	say("add itself", epoll_ctl(e, EPOLL_CTL_ADD, e, &v));
	tell("edge: writable", e);
	tell("edge: again", e);
	if (write(p[1], "ab", 2)) {}
	tell("level: readable", e);
	tell("level: again", e);
	if (read(p[0], buf, 1)) {}
	tell("one byte left", e);
	if (read(p[0], buf, 1)) {}
	tell("empty", e);
	v.events = EPOLLIN | EPOLLONESHOT;
	say("modify", epoll_ctl(e, EPOLL_CTL_MOD, p[0], &v));
	if (write(p[1], "a", 1)) {}
	tell("one-shot", e);
	tell("one-shot again", e);
	epoll_ctl(e, EPOLL_CTL_MOD, p[0], &v);
	tell("armed again", e);
	int outer = epoll_create1(0);
	v.events = EPOLLIN;
	v.data.u64 = 9;
	epoll_ctl(e, EPOLL_CTL_MOD, p[0], &v);
	say("nested", epoll_ctl(outer, EPOLL_CTL_ADD, e, &v));
	say("a loop", epoll_ctl(e, EPOLL_CTL_ADD, outer, &v));
	tell("outer", outer);
	close(p[1]);
	tell("hang-up", e);
	close(p[0]);
	tell("closed", e);
	say("delete", epoll_ctl(e, EPOLL_CTL_DEL, p[0], 0));
	wake_fd = eventfd(0, 0);
	epoll_ctl(e, EPOLL_CTL_ADD, wake_fd, &v);
	pthread_t t;
	pthread_create(&t, 0, waker, 0);
	struct epoll_event got;
	say("wait for another thread", epoll_wait(e, &got, 1, 5000));
	pthread_join(t, 0);
	say("no room", epoll_wait(e, &got, 0, 0));
	say("timeout", (uint64_t)epoll_wait(outer, &got, 1, 10));
	close(e);
	close(outer);
	close(wake_fd);
}

static void polls(void) {
	int p[2], q[2];
	pipe(p);
	pipe(q);
	struct pollfd f[4] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}, {-1, POLLIN, 0}, {500, POLLIN, 0}};
	say("poll", poll(f, 4, 0));
	printf("%#x %#x %#x %#x\n", f[0].revents, f[1].revents, f[2].revents, f[3].revents);
	say("poll timeout", poll(f, 1, 20));
	wake_fd = eventfd(0, 0);
	f[1] = (struct pollfd){wake_fd, POLLIN, 0};
	pthread_t t;
	pthread_create(&t, 0, waker, 0);
	say("poll of two", poll(f, 2, 5000));
	pthread_join(t, 0);
	printf("%#x %#x\n", f[0].revents, f[1].revents);
	fd_set r, w;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(p[0], &r);
	FD_SET(q[1], &w);
	struct timeval tv = {1, 0};
	say("select", select(q[1] + 1, &r, &w, 0, &tv));
	printf("%d %d\n", FD_ISSET(p[0], &r) != 0, FD_ISSET(q[1], &w) != 0);
	FD_ZERO(&r);
	FD_SET(400, &r);
	say("select of a closed one", select(401, &r, 0, 0, &tv));
	say("select negative", select(-1, 0, 0, 0, &tv));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	tv.tv_sec = 0, tv.tv_usec = 20000;
	say("select timeout", select(p[0] + 1, &r, 0, 0, &tv));
	printf("left %ld, set %d\n", (long)tv.tv_usec, FD_ISSET(p[0], &r) != 0);
}

int main(void) {
	pipes();
	events();
	epolls();
	polls();
	printf("end\n");
	return 0;
}
