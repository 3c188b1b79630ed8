// Arguments: mostly ones that mean something to the call, and often enough
// ones that mean harm.
#include "hostile.h"

u64 rnd(struct worker *w)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return w->rng * 0x2545f4914f6cdd1dul;
}

u64 below(struct worker *w, u64 n) { return (rnd(w) >> 11) % n; }

#define PICK(w, ...) pick(w, (const u64[]){__VA_ARGS__}, sizeof((const u64[]){__VA_ARGS__}) / 8)
static u64 pick(struct worker *w, const u64 *list, u64 n) { return list[below(w, n)]; }

// scratch returns memory that is always mapped, of this worker alone, with
// what was last in it.
u64 scratch(struct worker *w, u64 size)
{
	u64 share = (SAFEPAGES * PAGE) / SLOTTED;
	if (w->next + size + 64 > share)
		w->next = 0;
	u64 at = BUF + w->id * share + w->next;
	w->next += (size + 15) & ~15ul;
	return at;
}

// evil is an address that no program has, or at the very edge of what it has.
static u64 evil(struct worker *w, u64 size)
{
	u64 end = BUF + (SAFEPAGES + RACYPAGES) * PAGE;
	switch (below(w, 14)) {
	case 0: return 0;
	case 1: return below(w, 4096);
	case 2: return 0x7ffffffff000 - below(w, 64);
	case 3: return 0x800000000000 - below(w, 64);
	case 4: return 0xffff800000000000 + below(w, 1 << 30);
	case 5: return 0xffff900000000000 + below(w, 1 << 29);
	case 6: return 0xffffffff80200000 + below(w, 1 << 20);
	case 7: return 0xffffffff90000000 + below(w, 1 << 20);
	case 8: return -below(w, 4096);
	case 9: return rnd(w);
	case 10: return rnd(w) & 0x7fffffffffff & (below(w, 2) ? -1ul : ~4095ul);
	case 11: return 0xffffc00000000000 + below(w, 1 << 24);
	case 12: return end - below(w, size + 9);
	default: return end - size;
	}
}

// small is a number as fields have it.
static u64 small(struct worker *w)
{
	switch (below(w, 10)) {
	case 0: return 0;
	case 1: case 2: case 3: return below(w, 16);
	case 4: return below(w, 300);
	case 5: return 1ul << below(w, 64);
	case 6: return -below(w, 16);
	case 7: return rnd(w) & 0xffffffff;
	case 8: return BUF + below(w, (SAFEPAGES + RACYPAGES) * PAGE);
	default: return rnd(w);
	}
}

// pointer points to size bytes with anything in them.
u64 pointer(struct worker *w, u64 size)
{
	u64 kind = below(w, 16);
	if (kind == 0)
		return evil(w, size);
	if (kind == 1)
		return BUF + (SAFEPAGES + below(w, RACYPAGES)) * PAGE + below(w, PAGE);
	u64 at = scratch(w, size);
	for (u64 i = 0; i + 8 <= size && i < 256; i += 8)
		((u64 *)at)[i / 8] = small(w);
	return kind == 2 ? at + 1 : at;
}

// wild sometimes puts a pointer to harm in the place of a good one.
static u64 wild(struct worker *w, u64 at, u64 size)
{
	switch (below(w, 24)) {
	case 0: return evil(w, size);
	case 1: {
		// In memory that comes and goes; a fault here is survived.
		u64 to = BUF + (SAFEPAGES + below(w, RACYPAGES)) * PAGE + below(w, PAGE - 64);
		return to;
	}
	}
	return at;
}

static u64 timespec(struct worker *w)
{
	u64 *t = (u64 *)scratch(w, 32);
	int bad = below(w, 20) == 0;
	t[0] = bad ? small(w) : 0;
	t[1] = bad && below(w, 2) ? small(w) : below(w, 8) ? below(w, 100000) : 0;
	t[2] = t[0], t[3] = t[1];
	return wild(w, (u64)t, 16);
}

// itimer is an interval and a first time.
static u64 itimer(struct worker *w)
{
	u64 *t = (u64 *)scratch(w, 32);
	int bad = below(w, 8) == 0;
	for (int i = 0; i < 4; i += 2) {
		t[i] = bad ? small(w) : below(w, 3);
		t[i + 1] = bad && below(w, 2) ? small(w) : below(w, 1000000);
	}
	return wild(w, (u64)t, 32);
}

static const char *const names[] = {"a", "b", "c", "d", "dir", "dir/a", "dir/b", "dir/sub", "dir/sub/x", "link", "loop", "dangling", "dir/link", ".", "..", "hard",
	"/tmp/h/a", "/tmp/h/b", "/tmp/h/dir", "/", "/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/tty", "/proc/self/maps", "/proc/self/fd/3", "/proc/self/exe",
	"/proc/self/cwd/a", "/proc/meminfo", "/proc/self/status", "/proc/self/fd", "/proc/leveret", "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/self/mem", "/proc/self/task",
	"", "a/b", "a/", "dir/", "dir/.", "dir/..", "nowhere", "nowhere/a", "/proc/1/stat", "/proc/nowhere", "/init", "locked", "locked/a", "private", "//tmp//h/./a", "/dev/fd/4"};

static u64 path(struct worker *w)
{
	u64 kind = below(w, 40);
	if (kind == 0)
		return evil(w, 16);
	if (kind == 1) { // too long, as a name or as a whole
		u64 n = below(w, 2) ? 250 + below(w, 12) : 4090 + below(w, 12);
		char *s = (char *)scratch(w, n + 1);
		for (u64 i = 0; i < n; i++)
			s[i] = n > 1000 && i % 2 ? '/' : 'n';
		s[n] = 0;
		return (u64)s;
	}
	if (kind == 2) { // anything
		u64 n = below(w, 16);
		char *s = (char *)scratch(w, 32);
		for (u64 i = 0; i < n; i++)
			s[i] = rnd(w);
		s[n] = 0;
		return (u64)s;
	}
	if (kind == 3) { // without an end before the memory's
		u64 end = BUF + SAFEPAGES * PAGE;
		(void)end;
		return BUF + (SAFEPAGES + RACYPAGES) * PAGE - below(w, 20);
	}
	const char *name = names[below(w, kind < 28 ? 16 : sizeof names / sizeof *names)];
	char *s = (char *)scratch(w, 64);
	u64 i = 0;
	for (; name[i]; i++)
		s[i] = name[i];
	s[i] = 0;
	return (u64)s;
}

// slot is a worker's own descriptor of a kind.
int slot(struct worker *w, int kind) { return 100 + w->id * 16 + kind; }

static u64 fd(struct worker *w)
{
	switch (below(w, 24)) {
	case 0: return small(w);
	case 1: return -1;
	case 2: return below(w, 100);
	case 3: return 100 + below(w, 16 * 8);
	case 4: return (u64)-100;
	}
	return slot(w, below(w, NKINDS));
}

static u64 own(struct worker *w, int kind) { return below(w, 8) ? (u64)slot(w, kind) : fd(w); }

static u64 iovec(struct worker *w, int n)
{
	u64 *v = (u64 *)scratch(w, 16 * n);
	for (int i = 0; i < n; i++) {
		v[2 * i + 1] = below(w, 30) ? below(w, 300) : small(w);
		v[2 * i] = below(w, 4) ? scratch(w, 300) : pointer(w, 300);
	}
	return wild(w, (u64)v, 16 * n);
}

static u64 bits(struct worker *w, u64 mask)
{
	switch (below(w, 8)) {
	case 0: return small(w);
	case 1: return rnd(w) & mask & rnd(w);
	case 2: case 3: { // one of them
		for (int i = 0; i < 64; i++) {
			u64 b = 1ul << below(w, 64);
			if (mask & b)
				return b;
		}
	}
	}
	return 0;
}

u64 argument(struct worker *w, char kind)
{
	switch (kind) {
	case '.': return small(w); // not read
	case '0': return below(w, 8) ? 0 : small(w);
	case 'i': return below(w, 4) ? below(w, 10) : small(w);
	case 'f': return fd(w);
	case 'r': return own(w, below(w, 4) ? REGULAR : (int)PICK(w, READONLY, APPEND, MEMFD));
	case 'd': return below(w, 3) ? (u64)-100 : own(w, FOLDER);
	case 'D': return own(w, FOLDER);
	case 'e': return own(w, EPOLL);
	case 't': return own(w, TIMER);
	case 'w': return own(w, below(w, 3) ? PIPEW : PIPER);
	case 'W': return own(w, below(w, 3) ? PIPER : PIPEW);
	case 'b': return pointer(w, 4096 + below(w, 2) * 4096);
	case 'B': return below(w, 2) ? 0 : pointer(w, 256);
	case 's': return path(w);
	case 'n': return below(w, 12) ? below(w, 4096) : small(w);
	case 'N': return below(w, 12) ? 4096 : small(w);
	case 'o': return below(w, 8) ? below(w, 100000) : small(w);
	case 'O': return below(w, 2) ? 0 : wild(w, ({ u64 *p = (u64 *)scratch(w, 8); *p = below(w, 8) ? below(w, 5000) : small(w); (u64)p; }), 8);
	case 'T': return timespec(w);
	case 'Z': return below(w, 3) ? timespec(w) : 0;
	case 'I': return itimer(w);
	case 'J': return below(w, 3) ? itimer(w) : 0;
	case 'V': return iovec(w, 8);
	case 'v': return below(w, 16) ? below(w, 9) : small(w);
	case 'k': return below(w, 10) ? PICK(w, 0, 1, 2, 3, 4, 5, 6, 7) : small(w);
	case 'S': return below(w, 12) ? 10 + PICK(w, 0, 2, 13, 24, 25, 30, 31, 40) : small(w);
	case 'P': return below(w, 4) ? (u64)w->tid : PICK(w, 0, pid, pid, -1ul, 99999, small(w));
	case 'Q': return below(w, 4) ? (u64)pid : PICK(w, 0, -1ul, 99999, small(w));
	case 'A': return below(w, 12) ? MM + below(w, MMSIZE / PAGE) * PAGE : MM + below(w, MMSIZE);
	case 'a': return below(w, 12) ? MM + below(w, MMSIZE / PAGE) * PAGE : evil(w, 0);
	case 'L': {
		u64 n = below(w, 12);
		return n < 8 ? (1 + below(w, 32)) * PAGE : n == 8 ? below(w, 9000) : n == 9 ? (2ul << 20) * below(w, 8) : n == 10 ? below(w, MMSIZE) : n == 11 && below(w, 2) ? -below(w, 1ul << 40) : 0;
	}
	case 'R': return below(w, 10) ? below(w, 8) : small(w); // PROT_*
	case 'm': return below(w, 10) ? PICK(w, 0600, 0644, 0755, 0777, 0, 0400) : small(w);
	case '8': return below(w, 16) ? 8 : small(w);
	case 'G': return wild(w, ({ u64 *p = (u64 *)scratch(w, 128); p[0] = below(w, 2) ? 1ul << below(w, 64) : 0; p[1] = 0; (u64)p; }), 8); // a set of signals
	case 'g': return below(w, 3) ? 0 : argument(w, 'G');
	case 'u': return below(w, 4) ? 0 : PICK(w, -1ul, 1000, 0, -1ul, -1ul, small(w));
	case 'U': return below(w, 300) ? 0 : below(w, 40) ? -1ul : 1000; // a user to become
	case 'h': {
		static const char *const attrs[] = {"user.a", "user.b", "user.", "", "trusted.x", "security.capability", "system.posix_acl_access", "nothing", "user.c"};
		const char *name = attrs[below(w, 4) ? below(w, 2) : below(w, 9)];
		char *s = (char *)scratch(w, 32);
		u64 i = 0;
		for (; name[i]; i++)
			s[i] = name[i];
		s[i] = 0;
		return wild(w, (u64)s, 16);
	}
	case 'j': return below(w, 8) ? below(w, 8) : small(w); // a POSIX timer
	case 'X': { // struct pollfd[8]
		u32 *p = (u32 *)scratch(w, 64);
		for (int i = 0; i < 8; i++)
			p[2 * i] = fd(w), p[2 * i + 1] = rnd(w) & 0x3f;
		return wild(w, (u64)p, 64);
	}
	case 'x': return below(w, 16) ? below(w, 9) : small(w);
	case 'K': { // an fd_set, or none
		if (below(w, 3) == 0)
			return 0;
		u64 *p = (u64 *)scratch(w, 128);
		for (int i = 0; i < 16; i++)
			p[i] = 0;
		int f = slot(w, below(w, NKINDS));
		p[f / 64 % 16] = 1ul << f % 64;
		return wild(w, (u64)p, 128);
	}
	case 'y': return below(w, 16) ? (u64)slot(w, NKINDS) : small(w); // nfds of select
	case 'l': return below(w, 2) ? below(w, 50) : 0; // milliseconds
	case 'E': { // struct epoll_event
		u32 *p = (u32 *)scratch(w, 16);
		p[0] = PICK(w, 1, 4, 5, 1u << 31 | 1, 1u << 30 | 5, 0, 0x2000, 1u << 28 | 1, small(w));
		p[1] = rnd(w), p[2] = 0;
		return wild(w, (u64)p, 12);
	}
	case 'c': return below(w, 12) ? PICK(w, 1, 2, 3) : small(w); // epoll_ctl's op
	case 'p': return below(w, 16) ? 1 + below(w, 64) : small(w); // events wanted
	case 'F': { // open's flags
		u64 f = PICK(w, 0, 1, 2, 2, 0100 | 2, 0100 | 2, 0100 | 1 | 01000, 0100 | 0200 | 2, 0200000, 010000000, 020000000 | 2, 02000 | 1, 04000, 0400000, 0300);
		return below(w, 8) ? f | bits(w, 02004000) : f | small(w);
	}
	case 'C': { // fcntl's command
		return below(w, 12) ? PICK(w, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 36, 37, 38, 1024, 1025, 1030, 1031, 1032, 1033, 1034, 1035, 1036) : small(w);
	}
	case 'q': return below(w, 12) ? below(w, 26) : PICK(w, 100, 101, 102, 103, small(w)); // madvise
	case 'M': { // mmap's flags, never away from the arena
		u64 f = PICK(w, 0x22, 0x22, 0x22, 0x02, 0x01, 0x21, 0x03) | PICK(w, 0x10, 0x10, 0x10, 0x100000, 0x110000);
		return f | (bits(w, 0x8 | 0x4000 | 0x8000 | 0x100 | 0x2000 | 0x20000 | 0x800) & ~0x40000ul);
	}
	case 'z': return below(w, 8) ? below(w, 4) : small(w); // mremap's flags
	case 'Y': { // AT_* flags
		return below(w, 2) ? 0 : bits(w, 0x100 | 0x200 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000);
	}
	case 'H': return below(w, 8) ? below(w, 5) : small(w); // whence, RLIMIT_*, and so on
	case '2': return bits(w, 02004000); // CLOEXEC, NONBLOCK
	case '3': return below(w, 6) ? PICK(w, 0, 1, 2, 4, 8, 16, 32, 64) : small(w);
	}
	return small(w);
}
