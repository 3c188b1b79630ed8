// A program that makes system calls with hostile arguments, and counts what
// came back. It has no library: nothing of it depends on thread-local storage,
// a heap or a descriptor that a call of its own may take away.
#ifndef HOSTILE_H
#define HOSTILE_H

typedef unsigned long u64;
typedef unsigned u32;

enum { NSYS = 512, NERR = 134, MAXWORKERS = 64, SLOTTED = 16, FDS = 400 };

// A worker is a thread that makes calls. Its struct is at the low end of its
// alternate signal stack, where a handler finds it by its stack pointer.
enum { STACK = 1 << 16 };
struct worker {
	u64 rng;
	int id, tid, quiet;
	volatile u64 calls; // made
	volatile u64 nr, arg[6];
	void *jump[5]; // __builtin_setjmp
	volatile int armed;
	u64 seen, since, lost; // the ticker's
	u64 next; // the next free slot of the scratch memory
};

// Memory: BUF is what pointers point into; behind SAFE it is mapped, unmapped
// and protected while calls use it. MM is for the calls of memory themselves.
#define PAGE 4096ul
#define BUF 0x500000000000ul
#define SAFEPAGES 1024ul
#define RACYPAGES 64ul
#define MM 0x600000000000ul
#define MMSIZE (16ul << 20)

// start.c
long raw(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
long spawn(long nr, u64 a, u64 b, u64 c, u64 d, u64 e); // clone: the child runs child and exits
void run(u64 stack, void (*fn)(struct worker *), struct worker *w, u64 flags, int *tid);
void returns(u64 frame); // rt_sigreturn with a frame of the caller's
void vectors(void); // handlers for every signal
void handler(int sig, void *info, void *context);
void child(void);

// args.c
u64 rnd(struct worker *w);
u64 below(struct worker *w, u64 n);
u64 pointer(struct worker *w, u64 size);
u64 argument(struct worker *w, char kind);
u64 scratch(struct worker *w, u64 size);
int slot(struct worker *w, int kind);
enum { REGULAR, FOLDER, PIPER, PIPEW, EVENT, TIMER, EPOLL, MEMFD, NULLDEV, ZERODEV, MAPS, OPATH, RANDOMDEV, READONLY, APPEND, NKINDS };

// table.c
struct call {
	int nr;
	const char *kinds; // of the arguments: see argument
	void (*recipe)(struct worker *);
	int weight;
};
extern const struct call table[];
extern const int ntable;

// recipes.c
void refill(struct worker *w);

// main.c
extern u32 good[NSYS], bad[NSYS][NERR];
extern volatile u64 total;
extern int pid, tracing, nworkers;
long call(struct worker *w, long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
void count(long nr, long result);
#define CALL(w, nr, ...) CALL_(w, nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(w, nr, a, b, c, d, e, f, ...) call(w, nr, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))

// output.c
void say(const char *kind, const u64 *values, int n); // a line of numbers
int report(void);

#endif
