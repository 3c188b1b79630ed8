// Behaviours that some kernel of this kind got wrong in public, each asserting
// what Linux does. The table at the end names where the fault was reported.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int bad;
static int bad_errno;
static long bad_got;
static const char *bad_ex;
#define NOTE_(g, x) \
	do { \
		if (!bad) { \
			bad = __LINE__; \
			bad_errno = errno; \
			bad_got = (g); \
			bad_ex = (x); \
		} \
	} while (0)
#define CK(c) \
	do { \
		if (!(c)) \
			NOTE_(0, #c); \
	} while (0)
#define EQ(e, v) \
	do { \
		errno = 0; \
		long g_ = (long)(e); \
		if (g_ != (long)(v)) \
			NOTE_(g_, #e " == " #v); \
	} while (0)
// ERR: the expression returns -1 with errno en
#define ERR(e, en) \
	do { \
		errno = 0; \
		long g_ = (long)(e); \
		if (g_ != -1 || errno != (en)) \
			NOTE_(g_, #e " fails with " #en); \
	} while (0)
static sigjmp_buf jb;
static volatile int sig_got, sig_code;
static void *volatile sig_addr;
static void on_fault(int s, siginfo_t *si, void *u) {
	(void)u;
	sig_got = s;
	sig_code = si->si_code;
	sig_addr = si->si_addr;
	siglongjmp(jb, 1);
}
static void catch_faults(void) {
	struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &a, 0);
	sigaction(SIGBUS, &a, 0);
}
// touch: 0 if the byte was read (value in *v), else the signal number
static int touch(volatile char *p, int wr, int *v) {
	sig_got = 0;
	if (!sigsetjmp(jb, 1)) {
		if (wr)
			*p = 0x5a;
		else {
			int x = *p;
			if (v)
				*v = x;
		}
		return 0;
	}
	return sig_got;
}
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
static void msleep(int ms) {
	struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}
static long fut(void *a, int op, uint32_t v, const void *t, void *a2, uint32_t v3) {
	return syscall(SYS_futex, a, op, v, t, a2, v3);
}
static char dir_[64];
static int tmpd(void) {
	snprintf(dir_, sizeof dir_, "case.XXXXXX");
	return mkdtemp(dir_) ? chdir(dir_) : -1;
}
static int mkfile(const char *n, int sz) {
	int fd = open(n, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char b[256];
	memset(b, 'a', sizeof b);
	while (sz > 0) {
		int k = sz > 256 ? 256 : sz;
		if (write(fd, b, k) != k)
			return -1;
		sz -= k;
	}
	return fd;
}
#define M2 (2UL << 20)
static char *map2m(int n) { // n aligned 2 MiB blocks of RW anonymous memory
	char *p = mmap(0, (n + 1) * M2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	char *q = (char *)(((uintptr_t)p + M2 - 1) & ~(M2 - 1));
	madvise(q, n * M2, MADV_HUGEPAGE);
	return q;
}

static void thp_partial_munmap(void) {
	catch_faults();
	char *p = map2m(2);
	CK(p);
	memset(p, 7, 2 * M2);
	EQ(munmap(p + M2 / 2, 4096), 0);
	int v = 0;
	EQ(touch(p + M2 / 2 - 1, 0, &v), 0);
	EQ(v, 7);
	EQ(touch(p + M2 / 2 + 4096, 0, &v), 0);
	EQ(v, 7);
	EQ(touch(p + M2 / 2, 0, 0), SIGSEGV);
	EQ(sig_code, SEGV_MAPERR);
	CK(sig_addr == p + M2 / 2);
	EQ(p[2 * M2 - 1], 7);
	char *q = mmap(p + M2 / 2, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CK(q == p + M2 / 2);
	EQ(*q, 0);
}

static void madv_dontneed_anon(void) {
	char *p = map2m(2);
	CK(p);
	memset(p, 9, 2 * M2);
	EQ(madvise(p + 4096, 8192, MADV_DONTNEED), 0);
	EQ(p[4095], 9);
	EQ(p[4096], 0);
	EQ(p[12287], 0);
	EQ(p[12288], 9);
	EQ(madvise(p, 2 * M2, MADV_DONTNEED), 0);
	for (size_t i = 0; i < 2 * M2; i += 4096)
		if (p[i]) {
			CK(0);
			break;
		}
	ERR(madvise(p + 1, 4096, MADV_DONTNEED), EINVAL);
	EQ(madvise(p, 0, MADV_DONTNEED), 0);
	ERR(madvise(p, 4096, 12345), EINVAL);
}

static void private_file_past_eof(void) {
	catch_faults();
	CK(!tmpd());
	int fd = mkfile("f", 1024);
	char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CK(p != MAP_FAILED);
	EQ(p[0], 'a');
	EQ(p[1024], 0);
	EQ(p[4095], 0);
	EQ(touch(p + 4096, 0, 0), SIGBUS);
	EQ(sig_code, BUS_ADRERR);
	EQ(touch(p + 4096, 1, 0), SIGBUS);
	p[10] = 'z';
	char b;
	EQ(pread(fd, &b, 1, 10), 1);
	EQ(b, 'a');
}

static void fixed_noreplace(void) {
	char *p = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 1, 3 * 4096);
	ERR(mmap(p + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
	EQ(p[4096], 1);
	CK(mmap(p + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 4096);
	EQ(p[4096], 0);
	EQ(p[4095], 1);
	EQ(p[8192], 1);
	EQ(munmap(p + 4096, 4096), 0);
	CK(mmap(p + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == p + 4096); // a free hint is honoured
	ERR(mmap(p + 1, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), EINVAL);
}

static void mprotect_errors(void) {
	catch_faults();
	char *p = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ERR(syscall(SYS_mprotect, p + 1, 4096, PROT_READ), EINVAL);
	EQ(syscall(SYS_mprotect, p, 0, PROT_READ), 0);
	ERR(syscall(SYS_mprotect, p, -4096L, PROT_READ), ENOMEM);
	munmap(p + 4096, 4096);
	ERR(syscall(SYS_mprotect, p, 3 * 4096, PROT_READ), ENOMEM);
	EQ(touch(p, 1, 0), SIGSEGV);
	EQ(sig_code, SEGV_ACCERR);
	EQ(touch(p + 8192, 1, 0), 0); // the part before the hole did change
	ERR(syscall(SYS_munmap, p, 0), EINVAL);
	ERR(syscall(SYS_munmap, p + 1, 4096), EINVAL);
	EQ(syscall(SYS_munmap, p + 4096, 4096), 0);
	ERR(syscall(SYS_mmap, 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), EINVAL);
	ERR(syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0), EINVAL);
	ERR(syscall(SYS_mmap, 0, -4096L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
}

static void prot_write_only(void) {
	char *p = mmap(0, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *q = p;
	EQ(q[0], 0);
	q[1] = 3;
	EQ(q[1], 3);
}

static void futex_timeouts(void) {
	uint32_t w = 1;
	struct timespec r = {0, 60000000};
	double t = now();
	ERR(fut(&w, FUTEX_WAIT, 1, &r, 0, 0), ETIMEDOUT);
	t = now() - t;
	CK(t > .05 && t < 2);
	struct timespec a;
	clock_gettime(CLOCK_MONOTONIC, &a);
	a.tv_nsec += 60000000;
	if (a.tv_nsec >= 1000000000) {
		a.tv_sec++;
		a.tv_nsec -= 1000000000;
	}
	t = now();
	ERR(fut(&w, FUTEX_WAIT_BITSET, 1, &a, 0, FUTEX_BITSET_MATCH_ANY), ETIMEDOUT);
	t = now() - t;
	CK(t > .04 && t < 2);
	t = now();
	ERR(fut(&w, FUTEX_WAIT_BITSET, 1, &r, 0, FUTEX_BITSET_MATCH_ANY), ETIMEDOUT);
	CK(now() - t < .04); // absolute and long past
	clock_gettime(CLOCK_REALTIME, &a);
	a.tv_nsec += 60000000;
	if (a.tv_nsec >= 1000000000) {
		a.tv_sec++;
		a.tv_nsec -= 1000000000;
	}
	t = now();
	ERR(fut(&w, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG, 1, &a, 0, FUTEX_BITSET_MATCH_ANY),
	    ETIMEDOUT);
	t = now() - t;
	CK(t > .03 && t < 2);
	ERR(fut(&w, FUTEX_WAIT, 2, &r, 0, 0), EAGAIN);
	ERR(fut((char *)&w + 1, FUTEX_WAIT, 1, &r, 0, 0), EINVAL);
	ERR(fut(&w, FUTEX_WAIT_BITSET, 1, 0, 0, 0), EINVAL);
	ERR(fut((void *)8, FUTEX_WAIT, 0, &r, 0, 0), EFAULT);
	struct timespec n = {0, 1000000000};
	ERR(fut(&w, FUTEX_WAIT, 1, &n, 0, 0), EINVAL);
	EQ(fut(&w, FUTEX_WAKE, 9, 0, 0, 0), 0);
}

static char cstk[65536] __attribute__((aligned(64)));
static int ctid_w;

static int cfn(void *x) {
	(void)x;
	msleep(60);
	syscall(SYS_exit, 0);
	return 0;
}

static void child_cleartid(void) {
	ctid_w = 77;
	int tid = clone(cfn, cstk + sizeof cstk,
			CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			    CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID,
			0, 0, 0, &ctid_w);
	CK(tid > 0);
	double t = now();
	int v;
	while ((v = __atomic_load_n(&ctid_w, __ATOMIC_SEQ_CST)) != 0) {
		struct timespec r = {3, 0};
		if (fut(&ctid_w, FUTEX_WAIT, v, &r, 0, 0) && errno == ETIMEDOUT) {
			CK(0);
			break;
		}
	}
	CK(now() - t < 2.5);
}

static volatile int as_err, as_on;
static void has(int s) {
	(void)s;
	stack_t o, n;
	sigaltstack(0, &o);
	as_on = o.ss_flags;
	n = o;
	n.ss_flags = 0;
	as_err = sigaltstack(&n, 0) ? errno : 0;
}

static void sigaltstack_rules(void) {
	static char st[1 << 16];
	stack_t s = {.ss_sp = st, .ss_size = sizeof st, .ss_flags = 0x40};
	ERR(sigaltstack(&s, 0), EINVAL);
	s.ss_flags = 0;
	s.ss_size = 100;
	ERR(sigaltstack(&s, 0), ENOMEM);
	s.ss_size = sizeof st;
	EQ(sigaltstack(&s, 0), 0);
	struct sigaction a = {.sa_handler = has, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &a, 0);
	raise(SIGUSR1);
	EQ(as_on, SS_ONSTACK);
	EQ(as_err, EPERM);
	stack_t o;
	sigaltstack(0, &o);
	EQ(o.ss_flags, 0);
	CK(o.ss_sp == st);
}

static void auxv_rules(void) {
	CK(getauxval(AT_PHDR));
	EQ(getauxval(AT_PHENT), 56);
	CK(getauxval(AT_PHNUM) > 0);
	CK(getauxval(AT_ENTRY));
	EQ(getauxval(AT_PAGESZ), 4096);
	EQ(getauxval(AT_CLKTCK), 100);
	CK(getauxval(AT_RANDOM));
	CK(getauxval(AT_EXECFN));
	EQ(getauxval(AT_UID), getuid());
	Elf64_Phdr *ph = (void *)getauxval(AT_PHDR);
	int load = 0;
	for (unsigned i = 0; i < getauxval(AT_PHNUM); i++)
		load += ph[i].p_type == PT_LOAD;
	CK(load > 0);
	int fd = open("/proc/self/auxv", O_RDONLY), sec = 0;
	Elf64_auxv_t a[64];
	int n = read(fd, a, sizeof a) / sizeof *a;
	for (int i = 0; i < n; i++)
		sec |= a[i].a_type == AT_SECURE;
	CK(sec);
	errno = ENOENT;
	(void)getauxval(AT_SECURE);
}

static void getdents_unlink(void) {
	CK(!tmpd());
	CK(!mkdir("d", 0755));
	char n[32];
	for (int i = 0; i < 300; i++) {
		snprintf(n, 32, "d/file%03d", i);
		close(mkfile(n, 0));
	}
	int fd = open("d", O_RDONLY | O_DIRECTORY), seen = 0;
	char b[128];
	long r;
	while ((r = syscall(SYS_getdents64, fd, b, sizeof b)) > 0)
		for (long o = 0; o < r;) {
			struct {
				uint64_t ino;
				int64_t off;
				uint16_t len;
				uint8_t ty;
				char nm[];
			} *d = (void *)(b + o);
			if (d->nm[0] != '.') {
				seen++;
				EQ(unlinkat(fd, d->nm, 0), 0);
			}
			o += d->len;
		}
	EQ(r, 0);
	EQ(seen, 300);
	EQ(rmdir("d"), 0);
	ERR(syscall(SYS_getdents64, fd, b, sizeof b), ENOENT);
	CK(!mkdir("e", 0755));
	fd = open("e", O_RDONLY);
	ERR(syscall(SYS_getdents64, fd, b, 8), EINVAL);
}

static void rename_rules(void) {
	CK(!tmpd());
	close(mkfile("f", 1));
	mkdir("d", 0755);
	mkdir("n", 0755);
	close(mkfile("n/x", 1));
	mkdir("e", 0755);
	ERR(rename("f", "d"), EISDIR);
	ERR(rename("d", "f"), ENOTDIR);
	ERR(rename("d", "n"), ENOTEMPTY);
	EQ(rename("d", "e"), 0);
	ERR(rename("n", "n/sub"), EINVAL);
	EQ(link("f", "g"), 0);
	EQ(rename("f", "g"), 0);
	EQ(access("f", F_OK), 0);
	ERR(rename("nope", "z"), ENOENT);
	ERR(rename("f/", "z"), ENOTDIR);
	ERR(rename("n/.", "z"), EBUSY);
	ERR(unlink("e"), EISDIR);
	ERR(rmdir("n"), ENOTEMPTY);
	ERR(rmdir("f"), ENOTDIR);
}

static void append_pwrite(void) {
	CK(!tmpd());
	int fd = open("f", O_RDWR | O_CREAT | O_APPEND, 0644);
	EQ(write(fd, "hello", 5), 5);
	EQ(pwrite(fd, "XX", 2, 0), 2);
	char b[8] = {0};
	EQ(pread(fd, b, 8, 0), 7);
	CK(!memcmp(b, "helloXX", 7));
	EQ(lseek(fd, 0, SEEK_CUR), 5);
	EQ(fcntl(fd, F_SETFL, 0), 0);
	EQ(pwrite(fd, "YY", 2, 0), 2);
	EQ(pread(fd, b, 2, 0), 2);
	CK(!memcmp(b, "YY", 2));
	ERR(pread(fd, b, 1, -1), EINVAL);
	EQ(pread(fd, b, 1, 7), 0);
	EQ(pread(fd, b, 1, 9999), 0);
	int p[2];
	CK(!pipe(p));
	ERR(pread(p[0], b, 1, 0), ESPIPE);
	ERR(lseek(p[0], 0, SEEK_SET), ESPIPE);
}

static void sendfile_rules(void) {
	CK(!tmpd());
	int in = mkfile("i", 1 << 18), out = open("o", O_RDWR | O_CREAT, 0644);
	off_t o = 10;
	lseek(in, 3, SEEK_SET);
	EQ(sendfile(out, in, &o, 100), 100);
	EQ(o, 110);
	EQ(lseek(in, 0, SEEK_CUR), 3);
	EQ(sendfile(out, in, 0, 7), 7);
	EQ(lseek(in, 0, SEEK_CUR), 10);
	o = 1 << 18;
	EQ(sendfile(out, in, &o, 5), 0);
	int p[2];
	CK(!pipe2(p, O_NONBLOCK));
	lseek(in, 0, SEEK_SET);
	long r = sendfile(p[1], in, 0, 1 << 18);
	CK(r > 0 && r <= 65536);
	EQ(lseek(in, 0, SEEK_CUR), r);
	ERR(sendfile(p[1], in, 0, 1), EAGAIN);
	EQ(lseek(in, 0, SEEK_CUR), r);
	int ap = open("o", O_WRONLY | O_APPEND);
	ERR(sendfile(ap, in, 0, 1), EINVAL);
	ERR(sendfile(out, p[0], 0, 1), EINVAL);
	ERR(sendfile(-1, in, 0, 1), EBADF);
}

static void open_flags(void) {
	CK(!tmpd());
	close(mkfile("f", 1));
	mkdir("d", 0755);
	CK(!symlink("nowhere", "dang"));
	CK(!symlink("f", "l"));
	ERR(open("dang", O_CREAT | O_EXCL | O_RDWR, 0644), EEXIST);
	ERR(open("l", O_RDONLY | O_NOFOLLOW), ELOOP);
	ERR(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
	ERR(open("d", O_RDWR), EISDIR);
	ERR(open("f/", O_RDONLY), ENOTDIR);
	ERR(open("f/x", O_RDONLY), ENOTDIR);
	int fd = open("dang", O_CREAT | O_RDWR, 0600);
	CK(fd >= 0);
	EQ(access("nowhere", F_OK), 0);
	int pfd = open("f", O_PATH);
	char b;
	ERR(read(pfd, &b, 1), EBADF);
	struct stat st;
	EQ(fstat(pfd, &st), 0);
	CK(!symlink("loop", "loop"));
	ERR(open("loop", O_RDONLY), ELOOP);
	char big[300];
	memset(big, 'x', 299);
	big[299] = 0;
	ERR(open(big, O_RDONLY), ENAMETOOLONG);
	ERR(open("", O_RDONLY), ENOENT);
}

static void iov_rules(void) {
	CK(!tmpd());
	int fd = mkfile("f", 10);
	struct iovec v[1025];
	for (int i = 0; i < 1025; i++)
		v[i] = (struct iovec){"z", 1};
	EQ(writev(fd, v, 0), 0);
	EQ(writev(fd, v, 1024), 1024);
	ERR(writev(fd, v, 1025), EINVAL);
	v[0].iov_len = (size_t)1 << 63;
	ERR(writev(fd, v, 2), EINVAL);
	EQ(write(fd, (void *)8, 0), 0);
	ERR(write(fd, (void *)8, 4), EFAULT);
	struct iovec r[2] = {{0, 0}, {v, 4}};
	lseek(fd, 0, SEEK_SET);
	EQ(readv(fd, r, 2), 4);
	int fl = open("f", O_RDONLY);
	ERR(write(fl, "a", 1), EBADF);
	ERR(write(fl, "a", 0), EBADF);
}

static void pipe_atomic(void) {
	int p[2];
	CK(!pipe2(p, O_NONBLOCK));
	EQ(fcntl(p[0], F_GETPIPE_SZ), 65536);
	char b[70000] = {0};
	EQ(write(p[1], b, 65536 - 100), 65536 - 100);
	ERR(write(p[1], b, 4096), EAGAIN);
	int q;
	EQ(ioctl(p[0], FIONREAD, &q), 0);
	EQ(q, 65436);
	while (read(p[0], b, sizeof b) > 0)
		;
	EQ(write(p[1], b, 70000), 65536);
	ERR(write(p[1], b, 1), EAGAIN);
	struct pollfd f = {p[1], POLLOUT, 0};
	EQ(poll(&f, 1, 0), 0);
	EQ(read(p[0], b, 100), 100);
	EQ(poll(&f, 1, 0), 0);
	EQ(read(p[0], b, 4096), 4096);
	EQ(poll(&f, 1, 0), 1);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	ERR(write(p[1], b, 1), EPIPE);
	EQ(poll(&f, 1, 0), 1);
	CK(f.revents & POLLERR);
}

static void epoll_errors(void) {
	CK(!tmpd());
	int e = epoll_create1(0), fd = mkfile("f", 1), ev = eventfd(0, EFD_NONBLOCK);
	struct epoll_event x = {.events = EPOLLIN};
	ERR(epoll_ctl(e, EPOLL_CTL_ADD, fd, &x), EPERM);
	EQ(epoll_ctl(e, EPOLL_CTL_ADD, ev, &x), 0);
	ERR(epoll_ctl(e, EPOLL_CTL_ADD, ev, &x), EEXIST);
	ERR(epoll_ctl(e, EPOLL_CTL_ADD, e, &x), EINVAL);
	EQ(epoll_ctl(e, EPOLL_CTL_DEL, ev, 0), 0);
	ERR(epoll_ctl(e, EPOLL_CTL_DEL, ev, 0), ENOENT);
	ERR(epoll_ctl(e, EPOLL_CTL_MOD, ev, &x), ENOENT);
	ERR(epoll_ctl(ev, EPOLL_CTL_ADD, e, &x), EINVAL);
	ERR(epoll_wait(e, &x, 0, 0), EINVAL);
	EQ(epoll_wait(e, &x, 1, 20), 0);
	ERR(epoll_ctl(e, EPOLL_CTL_ADD, 999, &x), EBADF);
	uint64_t v;
	ERR(read(ev, &v, 8), EAGAIN);
	ERR(read(ev, &v, 4), EINVAL);
	v = ~0ULL;
	ERR(write(ev, &v, 8), EINVAL);
}

static void nanosleep_abs(void) {
	struct timespec a = {0, 0}, rem = {77, 77};
	double t = now();
	EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &a, &rem), 0);
	CK(now() - t < .05);
	EQ(rem.tv_sec, 77);
	a.tv_nsec = 1000000000;
	EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &a, 0), EINVAL);
	a.tv_nsec = -1;
	EQ(clock_nanosleep(CLOCK_REALTIME, 0, &a, 0), EINVAL);
	a.tv_nsec = 0;
	EQ(clock_nanosleep(999, 0, &a, 0), EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &a);
	a.tv_nsec += 50000000;
	if (a.tv_nsec >= 1000000000) {
		a.tv_sec++;
		a.tv_nsec -= 1000000000;
	}
	t = now();
	EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &a, 0), 0);
	CK(now() - t > .03);
}

static int find_map(uintptr_t a, char *perm, uintptr_t *lo, uintptr_t *hi, char *name) {
	FILE *f = fopen("/proc/self/maps", "r");
	char ln[512];
	int ok = 0;
	while (f && fgets(ln, sizeof ln, f)) {
		unsigned long s, e, off, ino;
		char pr[8], dev[16];
		int k = 0;
		if (sscanf(ln, "%lx-%lx %7s %lx %15s %lu %n", &s, &e, pr, &off, dev, &ino, &k) < 6)
			return -1;
		if (a >= s && a < e) {
			strcpy(perm, pr);
			*lo = s;
			*hi = e;
			strcpy(name, ln + k);
			name[strcspn(name, "\n")] = 0;
			ok = 1;
			break;
		}
	}
	if (f)
		fclose(f);
	return ok;
}

static void proc_maps(void) {
	CK(!tmpd());
	char pr[8], nm[512];
	uintptr_t lo, hi;
	char *p = mmap(0, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p + 4096, 4096, PROT_READ);
	mprotect(p + 3 * 4096, 4096, PROT_NONE);
	EQ(find_map((uintptr_t)p + 4096, pr, &lo, &hi, nm), 1);
	CK(lo == (uintptr_t)p + 4096 && hi == lo + 4096 && !strcmp(pr, "r--p"));
	EQ(find_map((uintptr_t)p + 3 * 4096, pr, &lo, &hi, nm), 1);
	CK(!strcmp(pr, "---p") && hi == lo + 4096);
	EQ(find_map((uintptr_t)&pr, pr, &lo, &hi, nm), 1);
	CK(!strcmp(nm, "[stack]"));
	int fd = mkfile("mf", 8192);
	char *q = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 4096);
	EQ(find_map((uintptr_t)q, pr, &lo, &hi, nm), 1);
	CK(!strcmp(pr, "r--s") && strstr(nm, "/mf"));
	FILE *f = fopen("/proc/self/stat", "r");
	char ln[2048];
	CK(f && fgets(ln, sizeof ln, f));
	char *s = strrchr(ln, ')');
	unsigned long v = 0;
	int k = 2;
	for (char *t = strtok(s + 2, " "); t; t = strtok(0, " "))
		if (++k == 28)
			v = strtoul(t, 0, 10);
	EQ(find_map(v, pr, &lo, &hi, nm), 1);
	CK(!strcmp(nm, "[stack]"));
}

static void affinity_rules(void) {
	unsigned long m[16] = {0};
	long r = syscall(SYS_sched_getaffinity, 0, sizeof m, m);
	CK(r >= 8 && r % 8 == 0 && m[0]);
	ERR(syscall(SYS_sched_getaffinity, 0, 4, m), EINVAL);
	ERR(syscall(SYS_sched_getaffinity, 0, 7, m), EINVAL);
	unsigned long z[16] = {0};
	ERR(syscall(SYS_sched_setaffinity, 0, 8, z), EINVAL);
	ERR(syscall(SYS_sched_getaffinity, 999999, sizeof m, m), ESRCH);
	for (int i = 0; i < 4; i++)
		if (m[0] >> i & 1) {
			unsigned long o = 1UL << i;
			EQ(syscall(SYS_sched_setaffinity, 0, 8, &o), 0);
			EQ(sched_getcpu(), i);
		}
}
static const struct {
	const char *area, *name, *source;
	void (*run)(void);
} cases[] = {
    {"mm", "thp_partial_munmap", "tgoskits#2067 nanos#951", thp_partial_munmap},
    {"mm", "madv_dontneed_anon", "nanos#2152 #2149", madv_dontneed_anon},
    {"mm", "private_file_past_eof", "asterinas#2201 tgoskits#1534", private_file_past_eof},
    {"mm", "fixed_noreplace", "nanos#1723 asterinas#2766", fixed_noreplace},
    {"mm", "mprotect_errors", "tgoskits#285 asterinas#1184 #1213", mprotect_errors},
    {"mm", "prot_write_only", "asterinas#1458", prot_write_only},
    {"futex", "futex_timeouts", "nanos#1135 ish#2775 serenity#6649", futex_timeouts},
    {"futex", "child_cleartid", "unikraft#1358 StarryOS#93", child_cleartid},
    {"signal", "sigaltstack_rules", "tgoskits#816", sigaltstack_rules},
    {"proc", "auxv_rules", "FEX#788 elfuse#26 aplus#54", auxv_rules},
    {"fs", "getdents_unlink", "tgoskits#1001 #1326 WSL#2077", getdents_unlink},
    {"fs", "rename_rules", "serenity#9165 fscq#6", rename_rules},
    {"fs", "append_pwrite", "wasi-testsuite#111", append_pwrite},
    {"fs", "sendfile_rules", "asterinas#1542 #3191 gvisor#3779 tgoskits#770", sendfile_rules},
    {"fs", "open_flags", "gVisor open_test blocklist", open_flags},
    {"fs", "iov_rules", "asterinas readv blocklist", iov_rules},
    {"pipe", "pipe_atomic", "asterinas#1554 wasmer#6148", pipe_atomic},
    {"epoll", "epoll_errors", "osv#971", epoll_errors},
    {"time", "nanosleep_abs", "wasmer#4682", nanosleep_abs},
    {"proc", "proc_maps", "asterinas#2925 elfuse#226", proc_maps},
    {"sched", "affinity_rules", "gvisor#10625", affinity_rules},
};

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bad = 0;
		cases[i].run();
		if (bad)
			printf("%s %s: line %d: %s (got %ld, %s)\n", cases[i].area, cases[i].name, bad, bad_ex, bad_got,
			       strerrorname_np(bad_errno));
		else
			printf("%s %s: as on Linux\n", cases[i].area, cases[i].name);
	}
	return 0;
}
