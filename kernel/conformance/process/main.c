// What a program is given when it starts: arguments, environment, the auxiliary
// vector, limits, identities, names; and what it may change of them.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

static void say(const char *name, long ok) { printf("%s: %s\n", name, ok ? "yes" : "no"); }
static void number(const char *name, long v) { printf("%s: %ld\n", name, v); }

// result prints what a call gave: its value, or the name of its error.
static void result(const char *name, long r)
{
	if (r == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, r);
}

extern char __ehdr_start[] __attribute__((visibility("hidden")));

static void auxiliary(void)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)__ehdr_start;
	number("AT_PHENT", getauxval(AT_PHENT));
	say("AT_PHNUM is the file's", getauxval(AT_PHNUM) == eh->e_phnum);
	say("AT_PHDR is where the headers are", getauxval(AT_PHDR) == (uintptr_t)__ehdr_start + eh->e_phoff);
	say("AT_ENTRY is the file's", getauxval(AT_ENTRY) == eh->e_entry);
	number("AT_PAGESZ", getauxval(AT_PAGESZ));
	number("AT_CLKTCK", getauxval(AT_CLKTCK));
	number("AT_SECURE", getauxval(AT_SECURE));
	number("AT_BASE", getauxval(AT_BASE));
	say("AT_RANDOM is readable and not zero", ({
		const uint64_t *r = (const uint64_t *)getauxval(AT_RANDOM);
		r && (r[0] | r[1]) != 0;
	}));
	say("AT_EXECFN is a path", getauxval(AT_EXECFN) && strchr((const char *)getauxval(AT_EXECFN), '/'));
	say("AT_PLATFORM is x86_64", getauxval(AT_PLATFORM) && !strcmp((const char *)getauxval(AT_PLATFORM), "x86_64"));
	say("AT_UID is getuid", getauxval(AT_UID) == getuid());
	say("AT_EUID is geteuid", getauxval(AT_EUID) == geteuid());
	say("AT_GID is getgid", getauxval(AT_GID) == getgid());
	say("AT_EGID is getegid", getauxval(AT_EGID) == getegid());
	say("AT_SYSINFO_EHDR is an ELF file", ({
		const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
		vdso && !memcmp(vdso, ELFMAG, SELFMAG);
	}));
}

static void stack(char **argv, char **envp)
{
	uintptr_t sp = (uintptr_t)(argv - 1);
	say("the stack pointer begins at a multiple of 16", sp % 16 == 0);
	say("argc is in front of argv", *(long *)sp == 1);
	say("argv ends with a null pointer", !argv[1]);
	say("the environment is behind argv", envp == argv + 2);
	char *last = argv[0];
	for (char **e = envp; *e; e++)
		last = *e;
	say("strings lie above the vectors", (uintptr_t)last > sp);
	say("strings follow one another", ({
		int ok = 1;
		char *next = argv[0] + strlen(argv[0]) + 1;
		for (char **e = envp; *e; e++) {
			ok &= *e == next;
			next = *e + strlen(*e) + 1;
		}
		ok;
	}));
}

static void limits(void)
{
	struct rlimit l;
	result("getrlimit of an unknown one", getrlimit(99, &l));
	say("RLIMIT_NOFILE soft is not above hard", !getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur <= l.rlim_max);
	rlim_t hard = l.rlim_max;
	l.rlim_cur = 64;
	result("setrlimit below", setrlimit(RLIMIT_NOFILE, &l));
	say("and it is there", !getrlimit(RLIMIT_NOFILE, &l) && l.rlim_cur == 64 && l.rlim_max == hard);
	int fd = -1, n = 0;
	while (n < 100 && (fd = dup(1)) >= 0)
		n++;
	result("dup beyond it", fd);
	for (int i = 3; i < 64; i++)
		close(i);
	l.rlim_cur = 65;
	l.rlim_max = 64;
	result("setrlimit soft above hard", setrlimit(RLIMIT_NOFILE, &l));
	result("prlimit of itself by 0", prlimit(0, RLIMIT_STACK, 0, &l));
	say("RLIMIT_STACK is 8 MiB or unlimited", l.rlim_cur == 8 << 20 || l.rlim_cur == RLIM_INFINITY);
	result("prlimit of nobody", prlimit(999999, RLIMIT_STACK, 0, &l));
	result("getrlimit into nothing", syscall(SYS_getrlimit, RLIMIT_NOFILE, (void *)8));
}

static void names(void)
{
	struct utsname u;
	result("uname", uname(&u));
	printf("sysname: %s\nmachine: %s\n", u.sysname, u.machine);
	int major = atoi(u.release);
	say("the release is 4 or later", major >= 4);
	result("uname into nothing", syscall(SYS_uname, (void *)8));
	char name[17] = {0};
	result("PR_GET_NAME", prctl(PR_GET_NAME, name));
	result("PR_SET_NAME", prctl(PR_SET_NAME, "a-name-that-is-too-long"));
	result("PR_GET_NAME again", prctl(PR_GET_NAME, name));
	printf("name: %s\n", name);
	char comm[32] = {0};
	int fd = open("/proc/self/comm", O_RDONLY);
	say("comm is it", fd >= 0 && read(fd, comm, 31) == 16 && !strncmp(comm, name, 15) && comm[15] == '\n');
	close(fd);
	result("prctl of an unknown option", prctl(12345, 0, 0, 0, 0));
	result("PR_SET_PDEATHSIG of no signal", prctl(PR_SET_PDEATHSIG, 999));
	result("PR_GET_DUMPABLE", prctl(PR_GET_DUMPABLE));
	result("PR_SET_NO_NEW_PRIVS", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	result("PR_GET_NO_NEW_PRIVS", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static void identities(void)
{
	say("getpid is gettid", getpid() == syscall(SYS_gettid));
	result("getpgid of nobody", getpgid(999999));
	result("getsid of nobody", getsid(999999));
	result("setpgid of nobody", setpgid(999999, 0));
	result("getpriority of nobody", getpriority(PRIO_PROCESS, 999999));
	result("getpriority of an unknown kind", getpriority(9, 0));
	errno = 0;
	number("nice", getpriority(PRIO_PROCESS, 0));
	result("setpriority", setpriority(PRIO_PROCESS, 0, 5));
	number("nice, set", getpriority(PRIO_PROCESS, 0));
	result("setpriority far beyond", setpriority(PRIO_PROCESS, 0, 500));
	number("nice, cut", getpriority(PRIO_PROCESS, 0));
	number("umask", umask(027));
	number("umask, set", umask(022));
	result("getgroups of a negative size", syscall(SYS_getgroups, -1, 0));
	result("personality", syscall(SYS_personality, 0xffffffff));
}

static void usage(void)
{
	struct rusage r;
	result("getrusage", getrusage(RUSAGE_SELF, &r));
	say("it has been busy for less than an hour", r.ru_utime.tv_sec < 3600 && r.ru_stime.tv_sec < 3600);
	result("getrusage of a thread", getrusage(RUSAGE_THREAD, &r));
	result("getrusage of children", getrusage(RUSAGE_CHILDREN, &r));
	result("getrusage of an unknown one", getrusage(77, &r));
	struct tms t;
	say("times counts", times(&t) != (clock_t)-1 && t.tms_cutime == 0);
	result("sysinfo into nothing", syscall(SYS_sysinfo, (void *)8));
}

static void processors(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	result("sched_getaffinity", sched_getaffinity(0, sizeof set, &set));
	say("there is a processor", CPU_COUNT(&set) > 0);
	result("sched_getaffinity of nobody", sched_getaffinity(999999, sizeof set, &set));
	say("the raw call gives a number of bytes", syscall(SYS_sched_getaffinity, 0, sizeof set, &set) % 8 == 0);
	result("sched_getaffinity into 1 byte", syscall(SYS_sched_getaffinity, 0, 1, &set));
	result("sched_setaffinity to itself", sched_setaffinity(0, sizeof set, &set));
	CPU_ZERO(&set);
	result("sched_setaffinity to nothing", sched_setaffinity(0, sizeof set, &set));
	number("policy", sched_getscheduler(0));
	result("policy of nobody", sched_getscheduler(999999));
	number("highest FIFO priority", sched_get_priority_max(SCHED_FIFO));
	number("lowest FIFO priority", sched_get_priority_min(SCHED_FIFO));
	number("highest other priority", sched_get_priority_max(SCHED_OTHER));
	result("priority of an unknown policy", sched_get_priority_max(99));
	unsigned cpu = 999, node = 999;
	result("getcpu", syscall(SYS_getcpu, &cpu, &node, 0));
	say("it is one", cpu < 1024 && node == 0);
}

static void unknown(void)
{
	result("call 390", syscall(390));
	result("call 1000", syscall(1000));
	result("call 4096", syscall(4096));
	result("call -2", syscall(-2));
}

// switches: settings of prctl(2) that a program can read back.
static void switches(void) {
	int v = 9;
	result("PR_GET_TSC", prctl(PR_GET_TSC, &v));
	printf("tsc %d\n", v);
	result("PR_GET_TSC", prctl(PR_GET_TSC, 8));
	result("PR_GET_TIMING", prctl(PR_GET_TIMING));
	result("PR_GET_SECUREBITS", prctl(PR_GET_SECUREBITS));
	result("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 5));
	result("PR_GET_CHILD_SUBREAPER", prctl(PR_GET_CHILD_SUBREAPER, &v));
	printf("subreaper %d\n", v);
	result("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 0));
	result("PR_GET_CHILD_SUBREAPER", prctl(PR_GET_CHILD_SUBREAPER, &v));
	printf("subreaper %d\n", v);
	result("PR_GET_CHILD_SUBREAPER", prctl(PR_GET_CHILD_SUBREAPER, 8));
}

int main(int argc, char **argv, char **envp)
{
	setvbuf(stdout, 0, _IOLBF, 0);
	number("argc", argc);
	stack(argv, envp);
	auxiliary();
	limits();
	names();
	identities();
	usage();
	processors();
	unknown();
	switches();
	return 0;
}
