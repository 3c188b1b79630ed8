// Recipes: calls of memory, which keep to an arena of their own.
#include "hostile.h"
#include <asm/unistd.h>

#define A(kind) argument(w, kind)

// length is one that, from an address of the arena's, ends in it or nowhere.
static u64 length(struct worker *w, u64 at)
{
	u64 n = A('L');
	if (n > MMSIZE && n < 1ul << 60)
		n %= MMSIZE;
	if (at >= MM && at < MM + MMSIZE && n < 1ul << 60 && at + n > MM + MMSIZE)
		n = MM + MMSIZE - at;
	return n;
}

static u64 home(struct worker *w) // an address to map at
{
	u64 at = A('a');
	return at >= MM && at < MM + MMSIZE ? at : at < 1ul << 47 ? MM + at % MMSIZE : at;
}

void mmaps(struct worker *w)
{
	u64 at = home(w), f = A('M');
	CALL(w, __NR_mmap, at, length(w, at), A('R'), f, f & 0x20 ? -1ul : (u64)slot(w, below(w, NKINDS)), below(w, 8) ? below(w, 40) * PAGE : A('i'));
	if (below(w, 8) == 0) {
		long r = CALL(w, __NR_mmap, 0, length(w, MM), A('R'), 0x22, -1, 0);
		if (r > 0)
			CALL(w, __NR_munmap, r, 1 << 20);
		if (r > 0) // what is behind the first MiB is cut at the arena's size at most
			raw(__NR_munmap, r, MMSIZE, 0, 0, 0, 0);
	}
	if (below(w, 16) == 0)
		CALL(w, __NR_mmap, A('.'), A('.') & ~0xfffffful, A('.') & 7, A('.') & ~0x10ul & ~0x100000ul, A('f'), A('.'));
}

void unmaps(struct worker *w) { u64 at = home(w); CALL(w, __NR_munmap, at, length(w, at)); }
void protects(struct worker *w) { u64 at = home(w); CALL(w, __NR_mprotect, at, length(w, at), A('R')); }
void advises(struct worker *w) { u64 at = home(w); CALL(w, __NR_madvise, at, length(w, at), A('q')); }

void remaps(struct worker *w)
{
	u64 from = home(w), to = home(w), flags = A('z');
	if (!(flags & 2))
		flags &= ~4ul;
	long r = CALL(w, __NR_mremap, from, length(w, from), length(w, to), flags, to);
	if (r > 0 && ((u64)r < MM || (u64)r >= MM + MMSIZE))
		raw(__NR_munmap, r, MMSIZE / 64, 0, 0, 0, 0);
}

void locks(struct worker *w)
{
	u64 at = home(w);
	CALL(w, __NR_mlock, at, length(w, at));
	CALL(w, __NR_munlock, at, length(w, at));
	CALL(w, __NR_mlock2, at, length(w, at), A('H'));
	if (below(w, 20) == 0) {
		CALL(w, __NR_mlockall, 1 + below(w, 7) + (below(w, 10) == 0) * 8);
		CALL(w, __NR_munlockall);
	} else if (below(w, 20) == 0) {
		CALL(w, __NR_mlockall, 4 | 1 | 2);
	}
	if (below(w, 8) == 0)
		CALL(w, __NR_munlockall);
	if (below(w, 8) == 0)
		CALL(w, __NR_mlockall, below(w, 2) ? 2 : A('H'));
}

void brks(struct worker *w)
{
	long now = CALL(w, __NR_brk, 0);
	CALL(w, __NR_brk, now + below(w, 100000));
	CALL(w, __NR_brk, below(w, 4) ? (u64)now : A('.'));
}

// racer does to the memory that calls point into what its owner may.
void racer(struct worker *w)
{
	u64 page = below(w, RACYPAGES - 1), n = 1 + below(w, RACYPAGES - page), at = BUF + (SAFEPAGES + page) * PAGE;
	n *= PAGE;
	switch (below(w, 8)) {
	case 0: CALL(w, __NR_munmap, at, n); break;
	case 1: CALL(w, __NR_mprotect, at, n, below(w, 8)); break;
	case 2: CALL(w, __NR_madvise, at, n, 4); break;
	case 3: CALL(w, __NR_mmap, at, n, below(w, 4) ? 3 : below(w, 8), 0x12, slot(w, REGULAR), below(w, 8) * PAGE); break;
	case 4: CALL(w, __NR_mmap, at, n, 3, 0x11, slot(w, MEMFD), below(w, 8) * PAGE); break;
	default: CALL(w, __NR_mmap, at, n, 3, 0x32, -1, 0);
	}
}

// touch reads and writes memory that may not be there: it faults, often.
void touch(struct worker *w)
{
	for (int i = 0; i < 8; i++) {
		volatile u64 *p = (u64 *)(below(w, 4) ? MM + below(w, MMSIZE / 8) * 8 : BUF + (SAFEPAGES * PAGE) + below(w, RACYPAGES * PAGE / 8) * 8);
		if (below(w, 2))
			*p = i;
		else
			(void)*p;
	}
}
