// Who a program is: ids and what follows from them, as user 0 and as another.
// To be run by user 0. System calls are made raw: the C library's functions
// would make them in every thread.
#include "../observe.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void ids(const char *when) {
	uid_t r, e, s;
	gid_t rg, eg, sg;
	getresuid(&r, &e, &s);
	getresgid(&rg, &eg, &sg);
	say("%s: uid %d %d %d, gid %d %d %d, getuid %d geteuid %d getgid %d getegid %d", when, r, e, s, rg, eg, sg,
	    getuid(), geteuid(), getgid(), getegid());
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4))
			printf("status %s", line);
	if (f)
		fclose(f);
}

static void capabilities(const char *when) {
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];
	memset(d, 0, sizeof d);
	long r = syscall(SYS_capget, &h, d);
	say("%s: capget %ld, effective CAP_CHOWN %d, permitted CAP_CHOWN %d", when, r, d[0].effective & 1, d[0].permitted & 1);
}

static void set(const char *name, long number, long a, long b, long c) {
	errno = 0;
	result(name, syscall(number, a, b, c));
}
#define SET(call, a, b, c) set(#call " " #a " " #b " " #c, SYS_##call, a, b, c)

static volatile int sender = -1;
static void handler(int s, siginfo_t *i, void *u) {
	(void)s, (void)u;
	sender = i->si_uid;
}

static void permissions(void) {
	TRY(open("secret", O_RDONLY));
	TRY(open("secret", O_WRONLY));
	TRY(access("secret", R_OK));
	TRY(faccessat(AT_FDCWD, "secret", R_OK, AT_EACCESS));
	DONE(open("group", O_RDONLY));
	TRY(open("group", O_WRONLY));
	TRY(open("closed/file", O_RDONLY));
	TRY(open("closed/none", O_RDONLY));
	TRY(open("listed/file", O_RDONLY) >= 0);
	TRY(unlink("listed/file"));
	TRY(mkdir("listed/new", 0755));
	TRY(rename("listed/file", "listed/other"));
	TRY(unlink("sticky/theirs"));
	TRY(rename("sticky/theirs", "sticky/mine"));
	TRY(chmod("secret", 0666));
	TRY(chown("secret", 1000, 1000));
	TRY(truncate("secret", 0));
	TRY(utimensat(AT_FDCWD, "secret", 0, 0));
	DONE(open("sticky/own", O_CREAT | O_RDWR, 0666));
	TRY(chmod("sticky/own", 02777));
	struct stat s;
	stat("sticky/own", &s);
	say("mode %o, uid %d, gid %d", s.st_mode, s.st_uid, s.st_gid);
	TRY(chown("sticky/own", -1, 2000));
	TRY(chown("sticky/own", -1, 3000));
	TRY(chown("sticky/own", 0, -1));
	TRY(chmod("sticky/own", 06755));
	stat("sticky/own", &s);
	say("mode %o", s.st_mode);
	TRY(unlink("sticky/own"));
	TRY(mknod("sticky/null", S_IFCHR | 0666, 0x103));
	TRY(mknod("sticky/fifo", S_IFIFO | 0666, 0));
	TRY(unlink("sticky/fifo"));
	TRY(chroot("."));
	TRY(setpriority(PRIO_PROCESS, 0, -5));
	TRY(setpriority(PRIO_PROCESS, 0, 5));
	TRY(setpriority(PRIO_PROCESS, 0, 0));
	TRY(setpriority(PRIO_PROCESS, 0, 5) * 0);
	struct sched_param p = {.sched_priority = 1};
	TRY(sched_setscheduler(0, SCHED_FIFO, &p));
	struct rlimit l = {100, 200};
	TRY(setrlimit(RLIMIT_NPROC, &l));
	l.rlim_max = 300;
	TRY(setrlimit(RLIMIT_NPROC, &l));
	l = (struct rlimit){65536, 65536};
	TRY(setrlimit(RLIMIT_MEMLOCK, &l));
	void *m = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY(mlock(m, 1 << 20));
	TRY(mlock(m, 8192));
	TRY(munlock(m, 8192));
	TRY(sethostname("x", 1));
	struct timespec t = {1, 0};
	TRY(clock_settime(CLOCK_REALTIME, &t));
	TRY(syscall(SYS_reboot, 1, 2, 3, 4));
	TRY(syscall(SYS_mount, "none", "/", "tmpfs", 0, 0));
	TRY(syscall(SYS_umount2, "/", 0));
	TRY(kill(getpid(), 0));
	TRY(kill(getpid(), SIGUSR1));
	say("si_uid %d", sender);
}

int main(void) {
	if (getuid() != 0) {
		say("not user 0");
		return 1;
	}
	umask(022);
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &a, 0);
	mkdir("work", 0755);
	if (chdir("work"))
		return 1;
	close(open("secret", O_CREAT | O_WRONLY, 0600));
	close(open("group", O_CREAT | O_WRONLY, 0640));
	if (chown("group", 0, 2000))
		return 1;
	mkdir("closed", 0700);
	close(open("closed/file", O_CREAT | O_WRONLY, 0666));
	mkdir("listed", 0755);
	close(open("listed/file", O_CREAT | O_WRONLY, 0666));
	mkdir("sticky", 0755);
	chmod("sticky", 01777);
	close(open("sticky/theirs", O_CREAT | O_WRONLY, 0666));

	ids("at first");
	capabilities("at first");
	TRY(umask(027));
	TRY(umask(022));
	SET(setuid, -1, 0, 0);
	SET(setgroups, -1, 0, 0);
	SET(setgroups, 2, 8, 0);
	gid_t groups[] = {2000, 2001};
	result("setgroups of two", syscall(SYS_setgroups, 2, groups));
	gid_t got[4] = {0};
	TRY(syscall(SYS_getgroups, 0, got));
	TRY(syscall(SYS_getgroups, 1, got));
	TRY(syscall(SYS_getgroups, 4, got));
	say("%d %d", got[0], got[1]);
	TRY(syscall(SYS_getgroups, -1, got));
	TRY(syscall(SYS_getgroups, 4, 8));

	// Effective ids alone, and back.
	SET(setresgid, 0, 1000, 0);
	SET(setresuid, 0, 1000, 0);
	ids("effective");
	capabilities("effective");
	TRY(access("secret", R_OK));
	TRY(faccessat(AT_FDCWD, "secret", R_OK, AT_EACCESS));
	TRY(open("secret", O_RDONLY));
	SET(setuid, 1234, 0, 0);
	SET(setuid, 0, 0, 0);
	SET(setresgid, -1, 0, -1);
	ids("back");
	capabilities("back");

	// The id for files alone.
	SET(setfsuid, 1000, 0, 0);
	SET(setfsuid, -1, 0, 0);
	TRY(open("secret", O_RDONLY));
	SET(setfsuid, 0, 0, 0);
	SET(setfsgid, 5, 0, 0);
	SET(setfsgid, 0, 0, 0);

	SET(setreuid, 5, 0, 0);
	ids("setreuid");
	SET(setreuid, 0, 0, 0);
	SET(setreuid, -1, 7, 0);
	ids("setreuid");
	SET(setreuid, 7, 0, 0);
	ids("setreuid");
	SET(setresuid, 0, 0, 0);
	SET(setregid, 8, 9, 0);
	ids("setregid");
	SET(setregid, 9, -1, 0);
	SET(setresgid, 1, 2, 3);
	ids("setresgid");
	SET(setgid, 1000, 0, 0);
	ids("setgid");
	TRY(prctl(PR_GET_DUMPABLE));
	TRY(prctl(PR_SET_DUMPABLE, 1));

	// For good.
	SET(setuid, 1000, 0, 0);
	ids("another user");
	capabilities("another user");
	TRY(prctl(PR_GET_DUMPABLE));
	SET(setuid, 0, 0, 0);
	SET(setuid, 1000, 0, 0);
	SET(setgid, 0, 0, 0);
	SET(setreuid, 0, -1, 0);
	SET(setreuid, -1, 0, 0);
	SET(setresuid, -1, -1, 0);
	SET(setresuid, -1, -1, -1);
	SET(setresgid, 0, 0, 0);
	SET(setregid, 0, 0, 0);
	SET(setfsuid, 0, 0, 0);
	SET(setfsuid, -1, 0, 0);
	result("setgroups", syscall(SYS_setgroups, 2, groups));
	TRY(syscall(SYS_getresuid, 8, 8, 8));
	permissions();
	say("end");
	return 0;
}
