// Every system call that docs/syscalls.md lists, with its arguments' kinds or
// a recipe, and how often it is made.
#include "hostile.h"
#include <asm/unistd.h>

#define R(name) void name(struct worker *)
R(mmaps); R(closes); R(brks); R(actions); R(masks); R(sigreturns); R(pipes); R(clones); R(kills); R(locks); R(prctls); R(archs); R(limits); R(umasks); R(stacks); R(robusts);
R(rseqs); R(waitings); R(timers); R(queues); R(queries); R(affinities); R(schedulers); R(reboots); R(dups); R(opens2); R(chroots); R(advises); R(remaps); R(ioctls); R(fcntls);
R(unmaps); R(protects); R(tids); R(pauses); R(epolls); R(mounts); R(sendfiles); R(memfds); R(renames); R(listings); R(attrs); R(truncates); R(rest); R(links); R(absents);
R(priorities); R(suspends);

const struct call table[] = {
	{__NR_read, "fbn", 0, 6}, {__NR_write, "fbn", 0, 6}, {__NR_open, "sFm", 0, 6}, {-1, "", closes, 8}, {__NR_stat, "sb", 0, 2}, {__NR_fstat, "fb", 0, 3}, {__NR_lstat, "sb", 0, 2},
	{__NR_poll, "Xxl", 0, 2}, {__NR_lseek, "roH", 0, 3}, {-1, "", mmaps, 4}, {-1, "", protects, 3}, {-1, "", unmaps, 3}, {-1, "", brks, 1}, {-1, "", actions, 2}, {-1, "", masks, 2}, {-1, "", sigreturns, 2},
	{-1, "", ioctls, 3}, {__NR_pread64, "rbno", 0, 3}, {__NR_pwrite64, "rbno", 0, 3}, {__NR_readv, "fVv", 0, 3}, {__NR_writev, "fVv", 0, 3}, {__NR_access, "sH", 0, 2}, {-1, "", pipes, 3},
	{__NR_select, "yKKKT", 0, 2}, {__NR_sched_yield, "......", 0, 1}, {-1, "", remaps, 3}, {__NR_msync, "ALH", 0, 2}, {__NR_mincore, "ALb", 0, 2}, {-1, "", advises, 4}, {-1, "", dups, 4}, {-1, "", pauses, 1},
	{__NR_nanosleep, "TB", 0, 2}, {__NR_getitimer, "Hb", 0, 1}, {__NR_alarm, "i.....", 0, 1}, {__NR_setitimer, "HJB", 0, 2}, {__NR_getpid, "......", 0, 1}, {-1, "", sendfiles, 6},
	{-1, "", clones, 2}, {-1, "", kills, 4}, {__NR_uname, "b", 0, 1}, {-1, "", fcntls, 6}, {__NR_flock, "f3", 0, 2}, {__NR_fsync, "f", 0, 1}, {__NR_fdatasync, "f", 0, 1}, {-1, "", truncates, 4},
	{-1, "", listings, 4}, {__NR_getcwd, "bn", 0, 1}, {__NR_chdir, "s", 0, 1}, {__NR_fchdir, "D", 0, 2}, {-1, "", renames, 6}, {__NR_mkdir, "sm", 0, 2}, {__NR_rmdir, "s", 0, 2}, {__NR_creat, "sm", 0, 2},
	{-1, "", links, 10}, {__NR_unlink, "s", 0, 2}, {__NR_readlink, "sbn", 0, 2}, {__NR_chmod, "sm", 0, 1}, {__NR_fchmod, "fm", 0, 1}, {__NR_chown, "suu", 0, 1}, {__NR_fchown, "fuu", 0, 1}, {__NR_lchown, "suu", 0, 1},
	{-1, "", umasks, 1}, {__NR_gettimeofday, "BB", 0, 1}, {-1, "", limits, 3}, {__NR_getrusage, "0b", 0, 1}, {__NR_sysinfo, "b", 0, 1}, {__NR_times, "B", 0, 1}, {-1, "", queries, 8},
	{__NR_rt_sigpending, "b8", 0, 1}, {__NR_rt_sigtimedwait, "GBT8", 0, 2}, {-1, "", queues, 2}, {-1, "", suspends, 1}, {-1, "", stacks, 1}, {__NR_utime, "sB", 0, 1}, {__NR_mknod, "smi", 0, 1}, {__NR_mknodat, "dsmi", 0, 1},
	{__NR_personality, "0", 0, 1}, {__NR_statfs, "sb", 0, 1}, {__NR_fstatfs, "fb", 0, 1}, {-1, "", priorities, 3}, {-1, "", schedulers, 6}, {-1, "", locks, 4}, {-1, "", prctls, 3}, {-1, "", archs, 1}, {-1, "", chroots, 1},
	{__NR_sync, "......", 0, 1}, {-1, "", mounts, 1}, {-1, "", reboots, 1}, {__NR_gettid, "......", 0, 1}, {__NR_readahead, "ron", 0, 1}, {-1, "", attrs, 24}, {__NR_time, "B", 0, 1},
	{-1, "", waitings, 8}, {-1, "", affinities, 2}, {__NR_epoll_create, "i", 0, 2}, {__NR_epoll_create1, "2", 0, 2}, {-1, "", tids, 1}, {__NR_restart_syscall, "......", 0, 1}, {__NR_fadvise64, "roni", 0, 1}, {-1, "", timers, 6},
	{__NR_clock_settime, "k0", 0, 1}, {__NR_clock_gettime, "kb", 0, 1}, {__NR_clock_getres, "kB", 0, 1}, {__NR_clock_nanosleep, "k0TB", 0, 2}, {-1, "", epolls, 10}, {__NR_utimes, "sB", 0, 1},
	{__NR_openat, "dsFm", 0, 6}, {__NR_mkdirat, "dsm", 0, 2}, {__NR_fchownat, "dsuuY", 0, 1}, {__NR_futimesat, "dsB", 0, 1}, {__NR_newfstatat, "dsbY", 0, 2}, {__NR_unlinkat, "ds0", 0, 2}, {__NR_readlinkat, "dsbn", 0, 2},
	{__NR_fchmodat, "dsm", 0, 1}, {__NR_faccessat, "dsH", 0, 1}, {__NR_faccessat2, "dsHY", 0, 1}, {452, "dsmY", 0, 1}, {__NR_pselect6, "yKKKTB", 0, 2}, {__NR_ppoll, "XxTg8", 0, 2}, {-1, "", robusts, 1},
	{__NR_splice, "WOwOni", 0, 4}, {__NR_sync_file_range, "roni", 0, 1}, {__NR_utimensat, "dsBY", 0, 2}, {__NR_timerfd_create, "k2", 0, 2}, {__NR_eventfd, "i", 0, 1}, {__NR_eventfd2, "i3", 0, 2}, {__NR_fallocate, "r3on", 0, 2},
	{__NR_timerfd_settime, "tHIB", 0, 2}, {__NR_timerfd_gettime, "tb", 0, 2}, {__NR_preadv, "rVvo", 0, 2}, {__NR_pwritev, "rVvo", 0, 2}, {__NR_preadv2, "rVvo03", 0, 2}, {__NR_pwritev2, "rVvo03", 0, 2}, {__NR_syncfs, "f", 0, 1},
	{__NR_getcpu, "BB", 0, 1}, {__NR_getrandom, "bn3", 0, 2}, {-1, "", memfds, 2}, {__NR_membarrier, "30", 0, 2}, {__NR_copy_file_range, "rOrOn0", 0, 3}, {__NR_statx, "dsYib", 0, 2}, {-1, "", rseqs, 1},
	{-1, "", opens2, 3}, {-1, "", rest, 6}, {-1, "", absents, 1},
};
const int ntable = sizeof table / sizeof *table;
