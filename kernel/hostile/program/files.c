// Recipes: calls of files that need more than one argument at a time.
#include "hostile.h"
#include <asm/unistd.h>

#define A(kind) argument(w, kind)

// keep moves a new descriptor into a worker's slot.
static void keep(struct worker *w, int kind, long fd)
{
	if (fd < 0)
		return;
	CALL(w, __NR_dup3, fd, slot(w, kind), below(w, 2) ? 02000000 : 0);
	CALL(w, __NR_close, fd);
}

// refill makes the descriptors of one kind anew, and the files.
void refill(struct worker *w)
{
	u32 *two = (u32 *)scratch(w, 8);
	int kind = below(w, NKINDS);
	switch (kind) {
	case REGULAR: keep(w, kind, CALL(w, __NR_open, below(w, 2) ? "/tmp/h/a" : "/tmp/h/b", 0102, 0644)); break;
	case FOLDER: keep(w, kind, CALL(w, __NR_open, below(w, 4) ? "/tmp/h" : "/", 0200000)); break;
	case PIPER: case PIPEW:
		if (CALL(w, __NR_pipe2, two, below(w, 2) ? 04000 : 0) == 0) {
			int r = two[0], wr = two[1];
			keep(w, PIPER, r);
			keep(w, PIPEW, wr);
		}
		break;
	case EVENT: keep(w, kind, CALL(w, __NR_eventfd2, below(w, 3), below(w, 2) ? 04000 : below(w, 2))); break;
	case TIMER: keep(w, kind, CALL(w, __NR_timerfd_create, below(w, 2), below(w, 2) ? 04000 : 0)); break;
	case EPOLL: keep(w, kind, CALL(w, __NR_epoll_create1, 0)); break;
	case MEMFD: {
		long f = CALL(w, __NR_memfd_create, "m", 2);
		if (f >= 0)
			CALL(w, __NR_ftruncate, f, below(w, 100000));
		keep(w, kind, f);
		break;
	}
	case NULLDEV: keep(w, kind, CALL(w, __NR_open, "/dev/null", 2)); break;
	case ZERODEV: keep(w, kind, CALL(w, __NR_open, below(w, 4) ? "/dev/zero" : "/dev/full", 2)); break;
	case MAPS: keep(w, kind, CALL(w, __NR_open, below(w, 2) ? "/proc/self/maps" : "/proc/self/status", 0)); break;
	case OPATH: keep(w, kind, CALL(w, __NR_open, "/tmp/h/a", 010000000)); break;
	case RANDOMDEV: keep(w, kind, CALL(w, __NR_open, "/dev/urandom", 0)); break;
	case READONLY: keep(w, kind, CALL(w, __NR_open, "/tmp/h/a", 0)); break;
	case APPEND: keep(w, kind, CALL(w, __NR_open, "/tmp/h/b", 02001)); break;
	}
	switch (below(w, 40)) {
	case 0: // the same few names in the folder where all begins
		CALL(w, __NR_chdir, "/tmp/h");
		CALL(w, __NR_mkdir, "/tmp/h/dir", 0755);
		CALL(w, __NR_mkdir, "/tmp/h/dir/sub", 0755);
		CALL(w, __NR_mkdir, "/tmp/h/private", 0700);
		break;
	case 1:
		CALL(w, __NR_symlink, "a", "/tmp/h/link");
		CALL(w, __NR_symlink, "loop", "/tmp/h/loop");
		CALL(w, __NR_symlink, "gone", "/tmp/h/dangling");
		CALL(w, __NR_symlink, "../dir", "/tmp/h/dir/link");
		break;
	case 2: // files stay small
		CALL(w, __NR_truncate, "/tmp/h/a", below(w, 3) * 5000);
		CALL(w, __NR_truncate, "/tmp/h/b", below(w, 3) * 5000);
		break;
	case 3: { // what was opened without a place
		int from = below(w, 64);
		CALL(w, __NR_close_range, from < 3 ? 3 : from, 99, 0);
		CALL(w, __NR_close_range, 100 + SLOTTED * 16, below(w, 2) ? ~0u : 4000u, 0);
		break;
	}
	}
}

void closes(struct worker *w)
{
	long f = CALL(w, __NR_dup, A('f'));
	CALL(w, __NR_close, f >= 0 && below(w, 8) ? (u64)f : A('f'));
	if (below(w, 8) == 0) {
		u64 at = 3 + below(w, 97);
		CALL(w, __NR_close_range, at, below(w, 8) ? at + below(w, 4) : A('.') | 1ul << 12, below(w, 3) ? 0 : A('3'));
	}
}

void pipes(struct worker *w)
{
	long r;
	u32 *two = (u32 *)(below(w, 6) ? scratch(w, 8) : pointer(w, 8));
	r = below(w, 2) ? CALL(w, __NR_pipe, two) : CALL(w, __NR_pipe2, two, A('2'));
	if (r == 0) {
		int a = two[0], b = two[1];
		CALL(w, __NR_close, a);
		if (below(w, 2))
			CALL(w, __NR_write, b, A('b'), A('n')); // EPIPE
		CALL(w, __NR_close, b);
	}
	u64 *v = (u64 *)scratch(w, 16);
	v[0] = scratch(w, 64), v[1] = 64;
	CALL(w, __NR_tee, A('W'), A('w'), A('N'), A('i'));
	CALL(w, __NR_vmsplice, A('w'), v, 1, 0);
}

void dups(struct worker *w)
{
	u64 to = below(w, 4) ? (u64)slot(w, 15) : below(w, 2) ? 300 + below(w, 200) : A('.');
	CALL(w, __NR_dup, A('f'));
	CALL(w, __NR_dup2, A('f'), to);
	CALL(w, __NR_dup3, A('f'), to, A('2'));
	if (below(w, 64) == 0) { // EMFILE
		for (int i = 0; i < FDS && CALL(w, __NR_dup, 1) >= 0; i++)
			;
		CALL(w, __NR_open, "/dev/null", 0), CALL(w, __NR_openat, -100, "/dev/null", 0), CALL(w, __NR_pipe2, scratch(w, 8), 0), CALL(w, __NR_pipe, scratch(w, 8));
		CALL(w, __NR_eventfd, 0), CALL(w, __NR_eventfd2, 0, 0), CALL(w, __NR_epoll_create, 1), CALL(w, __NR_epoll_create1, 0), CALL(w, __NR_timerfd_create, 0, 0), CALL(w, __NR_memfd_create, "m", 0);
		CALL(w, __NR_creat, "/tmp/h/a", 0644), CALL(w, __NR_fcntl, 1, 0, 0), CALL(w, __NR_fcntl, 1, 1030, 0);
		CALL(w, __NR_close_range, 3, 99, 0);
		CALL(w, __NR_close_range, 100 + (nworkers + 1) * 16, ~0u, 0);
	}
}

void sendfiles(struct worker *w)
{
	CALL(w, __NR_sendfile, below(w, 2) ? A('w') : A('r'), A('r'), A('O'), A('n'));
	CALL(w, __NR_copy_file_range, A('r'), A('O'), A('r'), A('O'), A('n'), A('0'));
	CALL(w, __NR_splice, A('W'), 0, A('r'), A('O'), A('N'), A('i'));
	CALL(w, __NR_splice, A('r'), A('O'), A('w'), 0, A('N'), 2);
}

void fcntls(struct worker *w)
{
	u64 *lock = (u64 *)scratch(w, 64);
	lock[0] = (below(w, 12) ? below(w, 3) : A('.')) & 0xffff | (below(w, 12) ? below(w, 3) << 16 : 0);
	lock[1] = A('o'), lock[2] = A('n'), lock[3] = 0;
	u64 command = A('C');
	switch (command) {
	case 5: case 6: case 36: case 37:
		CALL(w, __NR_fcntl, A('r'), command, below(w, 12) ? (u64)lock : A('b'));
		break;
	case 7: case 38:
		lock[0] = 2;
		CALL(w, __NR_fcntl, A('r'), command, lock);
		break;
	default:
		CALL(w, __NR_fcntl, A('f'), command, command == 0 || command == 1030 ? 50 + below(w, 2000) : A('i'));
	}
	long f = CALL(w, __NR_fcntl, A('r'), below(w, 2) ? 0 : 1030, 30);
	if (f >= 0)
		CALL(w, __NR_close, f);
	CALL(w, __NR_flock, A('r'), below(w, 2) ? 8 : 4 | (1 + below(w, 2)));
}

void ioctls(struct worker *w)
{
	static const u64 ops[] = {0x5401, 0x5402, 0x540b, 0x5413, 0x5414, 0x540f, 0x5410, 0x541b, 0x5421, 0x5450, 0x5451, 0x5429, 0x80045430, 0xdeadbeef, 0x5411, 0x540e};
	u32 *word = (u32 *)scratch(w, 64);
	word[0] = below(w, 3);
	u64 op = below(w, 12) ? ops[below(w, sizeof ops / 8)] : A('.');
	if (op == 0x5402) // the console's settings are what they are
		op = 0x5401;
	CALL(w, __NR_ioctl, A('f'), op, below(w, 6) ? (u64)word : A('b'));
}

void truncates(struct worker *w)
{
	CALL(w, __NR_truncate, A('s'), A('o'));
	CALL(w, __NR_ftruncate, A('r'), A('o'));
	CALL(w, __NR_fallocate, A('r'), below(w, 2) ? 0 : A('3'), A('o'), A('n'));
}

void listings(struct worker *w)
{
	u64 f = A('D');
	CALL(w, __NR_lseek, f, 0, 0);
	CALL(w, __NR_getdents64, f, A('b'), A('N'));
	CALL(w, __NR_getdents, f, A('b'), A('N'));
}

void renames(struct worker *w)
{
	CALL(w, __NR_rename, A('s'), A('s'));
	CALL(w, __NR_renameat, A('d'), A('s'), A('d'), A('s'));
	CALL(w, __NR_renameat2, A('d'), A('s'), A('d'), A('s'), below(w, 4) ? below(w, 3) : A('3'));
}

void links(struct worker *w)
{
	CALL(w, __NR_unlink, A('s'));
	CALL(w, __NR_link, A('s'), A('s'));
	CALL(w, __NR_unlink, A('s'));
	CALL(w, __NR_symlink, A('s'), A('s'));
	CALL(w, __NR_linkat, A('d'), A('s'), A('d'), A('s'), A('Y'));
	CALL(w, __NR_unlinkat, A('d'), A('s'), below(w, 2) * 0x200);
	CALL(w, __NR_symlinkat, A('s'), A('d'), A('s'));
	// Made and taken away under a name of one's own.
	char *s = (char *)scratch(w, 16), *t = (char *)scratch(w, 16);
	s[0] = t[0] = 'w', s[1] = t[1] = 'A' + w->id, s[2] = t[2] = 'a' + below(w, 8), t[3] = 'x', s[3] = t[4] = 0;
	switch (below(w, 6)) {
	case 0: CALL(w, __NR_symlink, "a", s); CALL(w, __NR_readlinkat, -100, s, A('b'), A('n')); CALL(w, __NR_readlink, s, A('b'), A('n')); break;
	case 1: CALL(w, __NR_link, "/tmp/h/a", s); break;
	case 2: CALL(w, __NR_creat, s, A('m')); CALL(w, __NR_linkat, -100, s, -100, t, 0); break;
	case 3: CALL(w, __NR_mknod, s, 0100644, 0); CALL(w, __NR_rename, s, t); CALL(w, __NR_renameat, -100, t, -100, s); break;
	case 4: CALL(w, __NR_mknodat, -100, s, 010644, 0); CALL(w, __NR_renameat2, -100, s, -100, t, 1); break;
	default:
		CALL(w, __NR_mkdir, s, 0755);
		CALL(w, __NR_rmdir, s);
		CALL(w, __NR_mkdirat, -100, t, A('m'));
		CALL(w, __NR_unlinkat, -100, t, 0x200);
		CALL(w, __NR_symlinkat, "b", -100, s);
	}
	CALL(w, __NR_unlink, s);
	CALL(w, __NR_unlinkat, -100, t, 0);
}

void attrs(struct worker *w)
{
	CALL(w, __NR_setxattr, A('s'), A('h'), A('b'), A('n'), A('H'));
	CALL(w, __NR_lsetxattr, A('s'), A('h'), A('b'), A('n'), A('H'));
	CALL(w, __NR_fsetxattr, A('r'), A('h'), A('b'), below(w, 300), below(w, 4) ? 0 : A('H'));
	CALL(w, __NR_setxattr, "/tmp/h/a", A('h'), A('b'), below(w, 99), 0);
	CALL(w, __NR_lsetxattr, "/tmp/h/b", A('h'), A('b'), below(w, 99), 0);
	CALL(w, __NR_getxattr, "/tmp/h/a", A('h'), A('B'), A('n'));
	CALL(w, __NR_lgetxattr, "/tmp/h/b", A('h'), A('B'), A('n'));
	CALL(w, __NR_getxattr, A('s'), A('h'), A('b'), A('n'));
	CALL(w, __NR_lgetxattr, A('s'), A('h'), A('b'), A('n'));
	CALL(w, __NR_fgetxattr, A('r'), A('h'), A('B'), A('n'));
	CALL(w, __NR_listxattr, A('s'), A('b'), A('n'));
	CALL(w, __NR_llistxattr, A('s'), A('b'), A('n'));
	CALL(w, __NR_flistxattr, A('r'), A('b'), A('n'));
	switch (below(w, 6)) {
	case 0: CALL(w, __NR_removexattr, "/tmp/h/a", A('h')); break;
	case 1: CALL(w, __NR_lremovexattr, "/tmp/h/b", A('h')); break;
	case 2: CALL(w, __NR_fremovexattr, A('r'), A('h')); break;
	case 3: CALL(w, __NR_removexattr, A('s'), A('h')); CALL(w, __NR_lremovexattr, A('s'), A('h')); break;
	}
}

void memfds(struct worker *w)
{
	char *s = (char *)scratch(w, 300);
	for (int i = 0; i < 260; i++)
		s[i] = 'm';
	s[below(w, 8) ? 5 : 260] = 0;
	long f = CALL(w, __NR_memfd_create, below(w, 8) ? (u64)s : A('s'), below(w, 6) ? below(w, 4) : A('3'));
	if (f >= 0) {
		CALL(w, __NR_ftruncate, f, A('o') % 1000000);
		CALL(w, __NR_fcntl, f, 1033, A('3'));
		CALL(w, __NR_pwrite64, f, A('b'), A('n'), 0);
		CALL(w, __NR_close, f);
	}
}

void opens2(struct worker *w)
{
	u64 *how = (u64 *)scratch(w, 64);
	how[0] = A('F'), how[1] = how[0] & 0100 ? 0644 : 0, how[2] = below(w, 3) ? 0 : A('3'), how[3] = below(w, 8) ? 0 : A('.');
	long f = CALL(w, __NR_openat2, A('d'), A('s'), below(w, 12) ? (u64)how : A('b'), below(w, 12) ? 24 : A('n'));
	if (f >= 0)
		CALL(w, __NR_close, f);
	f = CALL(w, __NR_open, A('s'), A('F'), A('m'));
	if (f >= 0 && below(w, 8))
		CALL(w, __NR_close, f);
	f = CALL(w, __NR_openat, A('d'), A('s'), A('F'), A('m'));
	if (f >= 0 && below(w, 8))
		CALL(w, __NR_close, f);
}

void epolls(struct worker *w)
{
	for (int i = 0; i < 3; i++)
		CALL(w, __NR_epoll_ctl, A('e'), A('c'), A('f'), A('E'));
	CALL(w, __NR_epoll_ctl, slot(w, EPOLL), 1, slot(w, PIPER + below(w, 4)), A('E'));
	CALL(w, __NR_epoll_wait, A('e'), A('b'), A('p'), A('l'));
	CALL(w, __NR_epoll_pwait, A('e'), A('b'), A('p'), A('l'), A('g'), A('8'));
	CALL(w, __NR_epoll_pwait2, A('e'), A('b'), A('p'), A('T'), A('g'), A('8'));
	CALL(w, __NR_poll, A('X'), A('x'), A('l'));
	CALL(w, __NR_ppoll, A('X'), A('x'), A('T'), A('g'), A('8'));
	if (below(w, 4) == 0)
		CALL(w, __NR_epoll_ctl, slot(w, EPOLL), 2, slot(w, PIPER + below(w, 4)), 0);
}

void umasks(struct worker *w) { CALL(w, __NR_umask, A('m')); CALL(w, __NR_umask, 022); }

void chroots(struct worker *w) { CALL(w, __NR_chroot, below(w, 2) ? (u64) "/" : below(w, 64) ? (u64) "/tmp/h/nowhere" : A('s')); CALL(w, __NR_chdir, "/tmp/h"); }

void mounts(struct worker *w)
{
	if (below(w, 20))
		return;
	CALL(w, __NR_mkdir, "/tmp/mnt", 0755);
	CALL(w, __NR_mount, "none", below(w, 4) ? (u64) "/tmp/mnt" : A('s'), below(w, 4) ? (u64) "tmpfs" : A('s'), below(w, 4) ? 0 : A('.'), A('B'));
	CALL(w, __NR_umount2, below(w, 4) ? (u64) "/tmp/mnt" : A('s'), below(w, 2) ? 0 : A('i'));
	CALL(w, __NR_umount2, "/tmp/mnt", 0);
}
