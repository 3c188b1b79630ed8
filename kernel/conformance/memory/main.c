// What a program observes of its memory: mmap, munmap, mprotect, mremap,
// madvise, mlock, mincore, brk, msync, limits and the faults between them.
// One line an observation; nothing that Linux itself varies.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P 4096UL
#define M (2UL << 20)
#define RW (PROT_READ | PROT_WRITE)
#define PA (MAP_PRIVATE | MAP_ANONYMOUS)
#define TOP 0x7ffffffff000UL
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void say(const char *f, ...) {
  char b[512];
  va_list a;
  va_start(a, f);
  int n = vsnprintf(b, sizeof b - 1, f, a);
  va_end(a);
  b[n++] = '\n';
  if (write(1, b, n) != n) _exit(2);
}

static const char *name(int e) {
  switch (e) {
  case 0: return "ok";
  case EPERM: return "EPERM";
  case EBADF: return "EBADF";
  case EAGAIN: return "EAGAIN";
  case ENOMEM: return "ENOMEM";
  case EACCES: return "EACCES";
  case EFAULT: return "EFAULT";
  case EBUSY: return "EBUSY";
  case EEXIST: return "EEXIST";
  case ENODEV: return "ENODEV";
  case EINVAL: return "EINVAL";
  case ENOSYS: return "ENOSYS";
  case EOVERFLOW: return "EOVERFLOW";
  case EOPNOTSUPP: return "EOPNOTSUPP";
  case EHWPOISON: return "EHWPOISON";
  case ENOENT: return "ENOENT";
  default: return "another errno";
  }
}

// E evaluates a call and names its errno.
#define E(label, call) do { errno = 0; long r_ = (long)(call); say("%s: %s", label, r_ == -1 ? name(errno) : "ok"); } while (0)
#define IS(label, cond) say("%s: %s", label, (cond) ? "yes" : "no")
#define N(label, v) say("%s: %ld", label, (long)(v))

static sigjmp_buf back;
static volatile int sig_code, sig_no;
static void *volatile sig_addr;
static void on_fault(int s, siginfo_t *i, void *u) {
  (void)u;
  sig_no = s;
  sig_code = i->si_code;
  sig_addr = i->si_addr;
  siglongjmp(back, 1);
}

// poke reads or writes a byte and says what came of it.
static const char *poke(volatile char *p, int wr) {
  static char b[64];
  if (sigsetjmp(back, 1) == 0) {
    if (wr) *p = 'w';
    else (void)*p;
    return "ok";
  }
  const char *code = "another code";
  if (sig_no == SIGSEGV && sig_code == SEGV_MAPERR) code = "SIGSEGV MAPERR";
  if (sig_no == SIGSEGV && sig_code == SEGV_ACCERR) code = "SIGSEGV ACCERR";
  if (sig_no == SIGBUS && sig_code == BUS_ADRERR) code = "SIGBUS ADRERR";
  snprintf(b, sizeof b, "%s%s", code, sig_addr == (void *)p ? "" : " at another address");
  return b;
}
#define POKE(label, p, wr) say("%s: %s", label, poke((volatile char *)(p), wr))

static char *anon(size_t n) {
  char *p = mmap(0, n, RW, PA, -1, 0);
  if (p == MAP_FAILED) { say("anon: %s", name(errno)); _exit(3); }
  return p;
}
// aligned is an area of n bytes at a multiple of 2 MiB.
static char *aligned(size_t n) {
  char *p = anon(n + M), *q = (char *)(((uintptr_t)p + M - 1) & ~(M - 1));
  if (q > p) munmap(p, q - p);
  if (p + n + M > q + n) munmap(q + n, p + M - q);
  return q;
}
static int resident(char *p, size_t pages) {
  unsigned char v[600];
  memset(v, 0, sizeof v);
  if (mincore(p, pages * P, v)) return -1;
  int n = 0;
  for (size_t i = 0; i < pages; i++) n += v[i] & 1;
  return n;
}
static int file(size_t n) {
  unlink("/tmp/leveret-memory");
  int fd = open("/tmp/leveret-memory", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) { say("open: %s", name(errno)); _exit(4); }
  char b[P];
  for (size_t i = 0; i < n; i += P) {
    memset(b, 'a' + i / P % 26, P);
    if (write(fd, b, n - i < P ? n - i : P) < 0) { say("write: %s", name(errno)); _exit(5); }
  }
  return fd;
}

static void t_mmap(void) {
  E("mmap length 0", mmap(0, 0, RW, PA, -1, 0));
  E("mmap no type", mmap(0, P, RW, MAP_ANONYMOUS, -1, 0));
  E("mmap both types of 3", mmap(0, P, RW, MAP_ANONYMOUS | MAP_SHARED | MAP_PRIVATE, -1, 0));
  E("mmap huge length", mmap(0, (size_t)1 << 62, PROT_NONE, PA | MAP_NORESERVE, -1, 0));
  E("mmap length wraps", mmap(0, (size_t)-1, PROT_NONE, PA | MAP_NORESERVE, -1, 0));
  E("mmap 127 TiB of nothing", munmap(mmap(0, 127UL << 40, PROT_NONE, PA | MAP_NORESERVE, -1, 0), 127UL << 40));
  E("mmap 129 TiB", mmap(0, 129UL << 40, PROT_NONE, PA | MAP_NORESERVE, -1, 0));
  E("mmap writable 1 TiB without noreserve", mmap(0, 1UL << 40, RW, PA, -1, 0));
  E("mmap bad fd", mmap(0, P, PROT_READ, MAP_PRIVATE, -1, 0));
  E("mmap bad fd 77", mmap(0, P, PROT_READ, MAP_PRIVATE, 77, 0));
  E("mmap anonymous ignores fd", mmap(0, P, PROT_READ, PA, 77, 0));
  E("mmap anonymous offset not a page", syscall(SYS_mmap, 0, P, PROT_READ, PA, -1, 5));
  E("mmap anonymous offset", syscall(SYS_mmap, 0, P, PROT_READ, PA, -1, P * 3));
  E("mmap fixed not a page", mmap((void *)(uintptr_t)0x700000001UL, P, RW, PA | MAP_FIXED, -1, 0));
  E("mmap fixed beyond the top", mmap((void *)TOP, P, RW, PA | MAP_FIXED, -1, 0));
  E("mmap fixed up to the top", mmap((void *)(TOP - P), 2 * P, RW, PA | MAP_FIXED, -1, 0));
  E("mmap fixed in the kernel", mmap((void *)0xffffffff80000000UL, P, RW, PA | MAP_FIXED, -1, 0));
  E("mmap prot extra bits", mmap(0, P, 0x1000 | RW, PA, -1, 0));
  E("mmap unknown flag", mmap(0, P, RW, PA | 0x40000000, -1, 0));
  E("mmap shared validate unknown flag", mmap(0, P, RW, MAP_SHARED_VALIDATE | MAP_ANONYMOUS | 0x40000000, -1, 0));
  E("mmap hugetlb", mmap(0, M, RW, PA | MAP_HUGETLB, -1, 0));
  char *p = anon(8 * P);
  E("mmap noreplace over", mmap(p + 2 * P, P, RW, PA | MAP_FIXED_NOREPLACE, -1, 0));
  E("mmap noreplace partly over", mmap(p - 0, 16 * P, RW, PA | MAP_FIXED_NOREPLACE, -1, 0));
  munmap(p + 2 * P, P);
  IS("mmap noreplace in a hole", mmap(p + 2 * P, P, RW, PA | MAP_FIXED_NOREPLACE, -1, 0) == p + 2 * P);
  memset(p, 'x', 8 * P);
  IS("mmap fixed replaces", mmap(p + P, P, RW, PA | MAP_FIXED, -1, 0) == p + P);
  IS("replaced page is zero", p[P] == 0 && p[2 * P - 1] == 0 && p[P - 1] == 'x' && p[2 * P] == 'x');
  munmap(p + 4 * P, P);
  IS("mmap hint that is free", mmap(p + 4 * P, P, RW, PA, -1, 0) == p + 4 * P);
  munmap(p + 4 * P, P);
  IS("mmap hint rounds down", mmap(p + 4 * P + 123, P, RW, PA, -1, 0) == p + 4 * P);
  char *q = mmap(p + 4 * P, P, RW, PA, -1, 0);
  IS("mmap hint that is taken", q != MAP_FAILED && q != p + 4 * P);
  E("mmap length rounds up", munmap(mmap(0, 1, RW, PA, -1, 0), P));
  E("mmap locked", munmap(mmap(0, P, RW, PA | MAP_LOCKED, -1, 0), P));
  p = mmap(0, 16 * P, RW, PA | MAP_POPULATE, -1, 0);
  N("mmap populate resident", resident(p, 16));
  p = mmap(0, 16 * P, PROT_NONE, PA | MAP_POPULATE, -1, 0);
  N("mmap populate nothing resident", resident(p, 16));
  POKE("read of none", p, 0);
  POKE("write of none", p, 1);
  p = mmap(0, P, PROT_READ, PA, -1, 0);
  POKE("read of read only", p, 0);
  POKE("write of read only", p, 1);
  p = mmap(0, P, PROT_WRITE, PA, -1, 0);
  POKE("read of write only", p, 0);
  p = mmap(0, P, PROT_EXEC, PA, -1, 0);
  munmap(p, P);
  POKE("read of unmapped", p, 0);
  POKE("write of unmapped", p, 1);
  POKE("read of page 0", (char *)16, 0);
  p = anon(P);
  p[0] = (char)0xc3;
  mprotect(p, P, PROT_READ | PROT_EXEC);
  ((void (*)(void))p)();
  say("execute: ok");
  mprotect(p, P, PROT_READ);
  if (sigsetjmp(back, 1) == 0) { ((void (*)(void))p)(); say("execute without the right: ok"); }
  else say("execute without the right: %s", sig_no == SIGSEGV && sig_code == SEGV_ACCERR && sig_addr == p ? "SIGSEGV ACCERR" : "another fault");
  IS("write and execute", mmap(0, P, RW | PROT_EXEC, PA, -1, 0) != MAP_FAILED);
}

static void t_munmap(void) {
  char *p = anon(8 * P);
  E("munmap length 0", munmap(p, 0));
  E("munmap not a page", munmap(p + 1, P));
  E("munmap length rounds up", munmap(p, 1));
  POKE("after it", p, 0);
  POKE("the next page", p + P, 0);
  E("munmap what is not mapped", munmap(p, P));
  E("munmap over holes", munmap(p, 8 * P));
  E("munmap beyond the top", munmap((void *)TOP, P));
  E("munmap wraps", munmap((void *)(TOP - P), (size_t)-P));
  E("munmap kernel", munmap((void *)0xffffffff80000000UL, P));
  p = anon(3 * P);
  memset(p, 'x', 3 * P);
  munmap(p + P, P);
  IS("munmap keeps both sides", p[0] == 'x' && p[2 * P] == 'x');
  POKE("the hole", p + P, 0);
}

static void t_mprotect(void) {
  char *p = anon(8 * P);
  memset(p, 'x', 8 * P);
  E("mprotect not a page", mprotect(p + 1, P, PROT_READ));
  E("mprotect length 0", mprotect(p, 0, PROT_READ));
  E("mprotect prot bits", mprotect(p, P, 0x1000));
  E("mprotect grows both", mprotect(p, P, PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP));
  E("mprotect growsdown", mprotect(p, P, PROT_READ | PROT_GROWSDOWN));
  E("mprotect wraps", mprotect(p, (size_t)-P, PROT_READ));
  E("mprotect unmapped", mprotect((void *)(16UL << 40), P, PROT_READ));
  E("mprotect none", mprotect(p + P, P, PROT_NONE));
  POKE("read", p + P, 0);
  E("mprotect back", mprotect(p + P, P, RW));
  IS("contents kept", p[P] == 'x' && p[2 * P - 1] == 'x');
  E("mprotect read", mprotect(p, 8 * P, PROT_READ));
  POKE("write", p + 3 * P, 1);
  mprotect(p, 8 * P, RW);
  POKE("write again", p + 3 * P, 1);
  munmap(p + 4 * P, P);
  E("mprotect over a hole", mprotect(p + 2 * P, 6 * P, PROT_READ));
  POKE("before the hole", p + 2 * P, 1);
  POKE("after the hole", p + 6 * P, 1);
  E("mprotect from a hole", mprotect(p + 4 * P, 2 * P, PROT_READ));
  int fd = file(P);
  int ro = open("/tmp/leveret-memory", O_RDONLY);
  p = mmap(0, P, PROT_READ, MAP_SHARED, ro, 0);
  E("mprotect write of a shared read-only file", mprotect(p, P, RW));
  p = mmap(0, P, PROT_READ, MAP_PRIVATE, ro, 0);
  E("mprotect write of a private read-only file", mprotect(p, P, RW));
  p[0] = 'z';
  char c = 0;
  if (pread(fd, &c, 1, 0) != 1) say("pread failed");
  IS("private write stays private", c == 'a');
  close(ro);
  close(fd);
}

static void t_file(void) {
  int fd = file(2 * P + 100);
  char *p = mmap(0, 4 * P, RW, MAP_SHARED, fd, 0);
  IS("file contents", p[0] == 'a' && p[P] == 'b' && p[2 * P + 99] == 'c');
  IS("tail beyond the end is zero", p[2 * P + 100] == 0 && p[3 * P - 1] == 0);
  POKE("page beyond the end", p + 3 * P, 0);
  p[2 * P + 200] = 'T';
  p[5] = 'S';
  char b[8] = {0};
  N("pread sees a shared write", pread(fd, b, 1, 5) == 1 && b[0] == 'S');
  if (pwrite(fd, "W", 1, 6) != 1) say("pwrite failed");
  IS("mapping sees a write", p[6] == 'W');
  E("ftruncate up", ftruncate(fd, 4 * P));
  POKE("page now inside", p + 3 * P, 0);
  E("ftruncate down", ftruncate(fd, P));
  POKE("page cut off", p + P, 0);
  POKE("page kept", p, 0);
  E("ftruncate up again", ftruncate(fd, 3 * P));
  IS("cut part reads zero", p[P] == 0 && p[2 * P] == 0);
  char *q = mmap(0, 2 * P, RW, MAP_PRIVATE, fd, 0);
  q[0] = 'q';
  IS("private and shared", q[0] == 'q' && p[0] == 'a');
  p[1] = 'v';
  p[P] = 'n';
  IS("untouched private page shows the file", q[P] == 'n');
  E("ftruncate under private copies", ftruncate(fd, 0));
  POKE("private copy beyond the end", q, 0);
  E("ftruncate back", ftruncate(fd, P));
  IS("mmap offset", (p = mmap(0, P, PROT_READ, MAP_SHARED, fd, P)) != MAP_FAILED);
  POKE("mapped beyond the end", p, 0);
  E("mmap offset not a page", syscall(SYS_mmap, 0, P, PROT_READ, MAP_SHARED, fd, 100));
  E("mmap offset overflow", syscall(SYS_mmap, 0, 2 * P, PROT_READ, MAP_SHARED, fd, 0x7ffffffffffff000UL));
  E("mmap offset negative", syscall(SYS_mmap, 0, P, PROT_READ, MAP_SHARED, fd, 0xfffffffffffff000UL));
  int wo = open("/tmp/leveret-memory", O_WRONLY);
  E("mmap of a write-only file", mmap(0, P, PROT_READ, MAP_PRIVATE, wo, 0));
  E("mmap shared of a write-only file", mmap(0, P, PROT_WRITE, MAP_SHARED, wo, 0));
  close(wo);
  int ro = open("/tmp/leveret-memory", O_RDONLY);
  E("mmap shared write of a read-only file", mmap(0, P, RW, MAP_SHARED, ro, 0));
  E("mmap private write of a read-only file", mmap(0, P, RW, MAP_PRIVATE, ro, 0));
  close(ro);
  int d = open("/tmp", O_RDONLY | O_DIRECTORY);
  E("mmap of a directory", mmap(0, P, PROT_READ, MAP_PRIVATE, d, 0));
  close(d);
  int pi[2];
  if (pipe(pi) == 0) {
    E("mmap of a pipe", mmap(0, P, PROT_READ, MAP_PRIVATE, pi[0], 0));
    close(pi[0]);
    close(pi[1]);
  }
  E("mmap hugetlb of a file", mmap(0, M, RW, MAP_SHARED | MAP_HUGETLB, fd, 0));
  E("mmap growsdown of a file", mmap(0, P, RW, MAP_PRIVATE | MAP_GROWSDOWN, fd, 0));
  E("mmap growsdown shared", mmap(0, P, RW, MAP_SHARED | MAP_GROWSDOWN, fd, 0));
  ftruncate(fd, 2 * P);
  p = mmap(0, 2 * P, RW, MAP_SHARED, fd, 0);
  close(fd);
  unlink("/tmp/leveret-memory");
  p[P] = 'k';
  IS("mapping outlives descriptor and name", p[P] == 'k');
}

static void t_shared(void) {
  char *p = mmap(0, 4 * P, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  p[0] = 's';
  char *q = mremap(p, 0, 4 * P, MREMAP_MAYMOVE);
  IS("mremap of length 0 makes a second view", q != MAP_FAILED && q != p && q[0] == 's');
  if (q != MAP_FAILED) { q[P] = 't'; IS("both views are one", p[P] == 't'); }
  p = mremap(p, 4 * P, 8 * P, MREMAP_MAYMOVE);
  POKE("grown shared memory beyond its end", p + 6 * P, 0);
}

static void t_mremap(void) {
  char *p = anon(8 * P);
  munmap(p + 4 * P, 4 * P);
  memset(p, 'x', 4 * P);
  E("mremap not a page", mremap(p + 1, P, 2 * P, MREMAP_MAYMOVE));
  E("mremap new length 0", mremap(p, P, 0, MREMAP_MAYMOVE));
  E("mremap unknown flag", mremap(p, P, P, 8));
  E("mremap fixed without maymove", syscall(SYS_mremap, p, P, P, MREMAP_FIXED, p + 64 * P));
  E("mremap unmapped", mremap((void *)(16UL << 40), P, 2 * P, MREMAP_MAYMOVE));
  E("mremap private length 0", mremap(p, 0, P, MREMAP_MAYMOVE));
  IS("mremap same length", mremap(p, 4 * P, 4 * P, 0) == p);
  IS("mremap grows in place", mremap(p, 4 * P, 6 * P, 0) == p);
  IS("contents and zeros", p[4 * P - 1] == 'x' && p[4 * P] == 0 && p[6 * P - 1] == 0);
  IS("mremap shrinks", mremap(p, 6 * P, 2 * P, 0) == p);
  POKE("what was cut", p + 2 * P, 0);
  mmap(p + 2 * P, P, RW, PA | MAP_FIXED, -1, 0);
  mprotect(p + 2 * P, P, PROT_READ);
  E("mremap cannot grow in place", mremap(p, 2 * P, 4 * P, 0));
  E("mremap over two areas", mremap(p, 3 * P, 6 * P, MREMAP_MAYMOVE));
  char *q = mremap(p, 2 * P, 4 * P, MREMAP_MAYMOVE);
  IS("mremap moves", q != MAP_FAILED && q != p && q[0] == 'x' && q[2 * P - 1] == 'x' && q[2 * P] == 0);
  POKE("the old place", p, 0);
  char *r = anon(16 * P);
  memset(r, 'r', 16 * P);
  IS("mremap fixed", mremap(q, 4 * P, 4 * P, MREMAP_MAYMOVE | MREMAP_FIXED, r + 4 * P) == r + 4 * P);
  IS("mremap fixed replaced", r[4 * P] == 'x' && r[6 * P] == 0 && r[3 * P] == 'r' && r[8 * P] == 'r');
  E("mremap fixed overlaps", mremap(r, 4 * P, 4 * P, MREMAP_MAYMOVE | MREMAP_FIXED, r + 2 * P));
  E("mremap fixed not a page", mremap(r, P, P, MREMAP_MAYMOVE | MREMAP_FIXED, r + 8 * P + 1));
  E("mremap fixed beyond the top", mremap(r, P, P, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)TOP));
  IS("mremap a middle part", (q = mremap(r + 9 * P, P, 2 * P, MREMAP_MAYMOVE)) != MAP_FAILED && q[0] == 'r' && q[P] == 0);
  POKE("middle part gone", r + 9 * P, 0);
  q = mremap(r, 2 * P, 2 * P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
  IS("mremap dontunmap", q != MAP_FAILED && q[0] == 'r' && r[0] == 0);
  E("mremap dontunmap with another length", mremap(r, 2 * P, 3 * P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0));
  E("mremap huge", mremap(r, P, 1UL << 47, MREMAP_MAYMOVE));
  int fd = file(4 * P);
  p = mmap(0, 2 * P, PROT_READ, MAP_PRIVATE, fd, P);
  q = mremap(p, 2 * P, 3 * P, MREMAP_MAYMOVE);
  IS("mremap of a file", q != MAP_FAILED && q[0] == 'b' && q[2 * P] == 'd');
  close(fd);
}

static void t_madvise(void) {
  char *p = anon(8 * P);
  memset(p, 'x', 8 * P);
  E("madvise unknown", madvise(p, P, 12345));
  E("madvise not a page", madvise(p + 1, P, MADV_DONTNEED));
  E("madvise length 0", madvise(p, 0, MADV_DONTNEED));
  E("madvise length wraps", madvise(p, (size_t)-1, MADV_DONTNEED));
  E("madvise normal", madvise(p, P, MADV_NORMAL));
  E("madvise random", madvise(p, P, MADV_RANDOM));
  E("madvise sequential", madvise(p, P, MADV_SEQUENTIAL));
  E("madvise willneed", madvise(p, P, MADV_WILLNEED));
  E("madvise dontneed", madvise(p + P, P, MADV_DONTNEED));
  IS("dontneed zeroes", p[P] == 0 && p[0] == 'x' && p[2 * P] == 'x');
  E("madvise free", madvise(p + 2 * P, P, MADV_FREE));
  p[2 * P] = 'n';
  IS("written after free", p[2 * P] == 'n');
  E("madvise dontfork", madvise(p, P, MADV_DONTFORK));
  E("madvise dofork", madvise(p, P, MADV_DOFORK));
  E("madvise dontdump", madvise(p, P, MADV_DONTDUMP));
  E("madvise dodump", madvise(p, P, MADV_DODUMP));
  E("madvise wipeonfork", madvise(p, P, MADV_WIPEONFORK));
  E("madvise keeponfork", madvise(p, P, MADV_KEEPONFORK));
  E("madvise cold", madvise(p, P, MADV_COLD));
  E("madvise pageout", madvise(p, P, MADV_PAGEOUT));
  IS("kept through cold and pageout", p[0] == 'x');
  E("madvise hugepage", madvise(p, 8 * P, MADV_HUGEPAGE));
  E("madvise nohugepage", madvise(p, 8 * P, MADV_NOHUGEPAGE));
  E("madvise remove of anonymous", madvise(p, P, MADV_REMOVE));
  munmap(p + 4 * P, P);
  E("madvise dontneed over a hole", madvise(p + 3 * P, 3 * P, MADV_DONTNEED));
  IS("both sides were zeroed", p[3 * P] == 0 && p[5 * P] == 0);
  E("madvise willneed over a hole", madvise(p + 3 * P, 3 * P, MADV_WILLNEED));
  E("madvise dontneed unmapped", madvise((void *)(16UL << 40), P, MADV_DONTNEED));
  mlock(p, P);
  E("madvise dontneed locked", madvise(p, P, MADV_DONTNEED));
  E("madvise dontneed_locked", madvise(p, P, MADV_DONTNEED_LOCKED));
  IS("dontneed_locked zeroes", p[0] == 0);
  E("madvise free locked", madvise(p, P, MADV_FREE));
  munlock(p, P);
  char *q = anon(16 * P);
  E("madvise populate_read", madvise(q, 8 * P, MADV_POPULATE_READ));
  N("resident", resident(q, 8));
  E("madvise populate_write", madvise(q + 8 * P, 8 * P, MADV_POPULATE_WRITE));
  N("resident", resident(q + 8 * P, 8));
  mprotect(q, P, PROT_READ);
  E("madvise populate_write read only", madvise(q, P, MADV_POPULATE_WRITE));
  mprotect(q, P, PROT_NONE);
  E("madvise populate_read none", madvise(q, P, MADV_POPULATE_READ));
  munmap(q + 3 * P, P);
  E("madvise populate over a hole", madvise(q + 2 * P, 3 * P, MADV_POPULATE_READ));
  int fd = file(2 * P);
  char *f = mmap(0, 4 * P, RW, MAP_SHARED, fd, 0);
  f[0] = 'F';
  E("madvise dontneed shared", madvise(f, P, MADV_DONTNEED));
  IS("file keeps what was written", f[0] == 'F');
  E("madvise free shared", madvise(f, P, MADV_FREE));
  E("madvise populate beyond the end", madvise(f, 4 * P, MADV_POPULATE_READ));
  E("madvise remove of a file", madvise(f, P, MADV_REMOVE));
  IS("removed part is zero", f[0] == 0 && f[P] == 'b');
  char *pr = mmap(0, 2 * P, RW, MAP_PRIVATE, fd, 0);
  pr[P] = 'p';
  E("madvise dontneed private file", madvise(pr, 2 * P, MADV_DONTNEED));
  IS("private copy dropped", pr[P] == 'b');
  E("madvise remove of a private file", madvise(pr, P, MADV_REMOVE));
  close(fd);
  char *h = aligned(2 * M);
  E("madvise collapse of nothing", madvise(h, M, MADV_COLLAPSE));
  memset(h, 'h', M);
  E("madvise collapse", madvise(h, M, MADV_COLLAPSE));
  IS("collapse keeps contents", h[0] == 'h' && h[M - 1] == 'h' && h[P * 77] == 'h');
  E("madvise collapse less than 2 MiB", madvise(h + P, M - P, MADV_COLLAPSE));
  munmap(h + 5 * P, P);
  IS("a large page is split by munmap", h[0] == 'h' && h[4 * P] == 'h' && h[6 * P] == 'h' && h[M - 1] == 'h');
  POKE("hole in a large page", h + 5 * P, 0);
  E("mprotect part of a large page", mprotect(h + 64 * P, 64 * P, PROT_READ));
  POKE("read-only part", h + 64 * P, 1);
  POKE("part before", h + 63 * P, 1);
  POKE("part behind", h + 128 * P, 1);
  E("dontneed part of a large page", madvise(h + 200 * P, 10 * P, MADV_DONTNEED));
  IS("zeroed part only", h[199 * P] == 'h' && h[200 * P] == 0 && h[209 * P] == 0 && h[210 * P] == 'h');
}

static void t_lock(void) {
  char *p = anon(16 * P);
  E("mlock", mlock(p, 4 * P));
  N("resident", resident(p, 16));
  E("mlock rounds", mlock(p + 4 * P + 100, 1));
  E("mlock length 0", mlock(p, 0));
  E("mlock wraps", mlock(p, (size_t)-1));
  E("mlock unmapped", mlock((void *)(16UL << 40), P));
  E("munlock unmapped", munlock((void *)(16UL << 40), P));
  mprotect(p + 8 * P, P, PROT_NONE);
  E("mlock none", mlock(p + 8 * P, P));
  E("mlock2 flags", syscall(SYS_mlock2, p, P, 2));
  E("mlock2 onfault", syscall(SYS_mlock2, p + 10 * P, 2 * P, MLOCK_ONFAULT));
  N("resident after onfault", resident(p + 10 * P, 2));
  E("munlock", munlock(p, 16 * P));
  E("mlockall flags", mlockall(8));
  E("mlockall 0", mlockall(0));
  E("mlockall onfault alone", mlockall(4));
  E("mlockall current", mlockall(MCL_CURRENT));
  E("munlockall", munlockall());
  E("mlockall future", mlockall(MCL_FUTURE));
  char *q = anon(4 * P);
  N("mapped after future resident", resident(q, 4));
  E("munlockall", munlockall());
  q = mmap(0, 4 * P, RW, PA | MAP_LOCKED, -1, 0);
  N("map_locked resident", resident(q, 4));
}

static void t_mincore(void) {
  char *p = anon(8 * P);
  unsigned char v[8];
  p[2 * P] = 1;
  E("mincore not a page", mincore(p + 1, P, v));
  E("mincore length 0", mincore(p, 0, v));
  E("mincore bad vector", mincore(p, P, (void *)16));
  E("mincore unmapped", mincore((void *)(16UL << 40), P, v));
  munmap(p + 5 * P, P);
  E("mincore over a hole", mincore(p, 8 * P, v));
  E("mincore beyond the top", mincore((void *)TOP, P, v));
  E("mincore wraps", mincore(p, (size_t)-1, v));
  mincore(p, 5 * P, v);
  IS("mincore touched", v[2] & 1);
}

static void t_brk(void) {
  char *b = (char *)syscall(SYS_brk, 0);
  IS("brk grows", (char *)syscall(SYS_brk, b + 5 * P) == b + 5 * P);
  b[4 * P] = 'b';
  IS("brk memory is zero", b[4 * P - 1] == 0);
  IS("brk not a page", (char *)syscall(SYS_brk, b + 5 * P + 17) == b + 5 * P + 17);
  IS("brk shrinks", (char *)syscall(SYS_brk, b + P) == b + P);
  POKE("beyond the break", (char *)(((uintptr_t)b + P + P - 1) & ~(P - 1)) + P, 0);
  IS("brk below the start", (char *)syscall(SYS_brk, 4096) == b + P);
  IS("brk far too high", (char *)syscall(SYS_brk, (void *)(1UL << 46)) == b + P);
  IS("brk regrown is zero", (char *)syscall(SYS_brk, b + 5 * P) == b + 5 * P && b[4 * P] == 0);
  char *end = (char *)(((uintptr_t)b + 5 * P + P - 1) & ~(P - 1));
  char *q = mmap(end + 2 * P, P, RW, PA | MAP_FIXED, -1, 0);
  IS("brk against a mapping", (char *)syscall(SYS_brk, end + 8 * P) == b + 5 * P);
  munmap(q, P);
  syscall(SYS_brk, b);
}

static void t_msync(void) {
  char *p = anon(4 * P);
  E("msync anonymous", msync(p, 4 * P, MS_SYNC));
  E("msync not a page", msync(p + 1, P, MS_SYNC));
  E("msync flags", msync(p, P, 0x100));
  E("msync both", msync(p, P, MS_SYNC | MS_ASYNC));
  E("msync none", msync(p, P, 0));
  E("msync length 0", msync(p, 0, MS_SYNC));
  E("msync unmapped", msync((void *)(16UL << 40), P, MS_SYNC));
  munmap(p + P, P);
  E("msync over a hole", msync(p, 3 * P, MS_ASYNC));
  int fd = file(2 * P);
  p = mmap(0, 2 * P, RW, MAP_SHARED, fd, 0);
  p[0] = 'm';
  E("msync file", msync(p, 2 * P, MS_SYNC));
  E("msync invalidate", msync(p, 2 * P, MS_SYNC | MS_INVALIDATE));
  mlock(p, P);
  E("msync invalidate locked", msync(p, 2 * P, MS_INVALIDATE));
  char c = 0;
  if (pread(fd, &c, 1, 0) != 1) say("pread failed");
  IS("file has it", c == 'm');
  close(fd);
}

static void t_limits(void) {
  struct rlimit old, l;
  getrlimit(RLIMIT_AS, &old);
  l = old;
  l.rlim_cur = 1UL << 30;
  E("setrlimit as", setrlimit(RLIMIT_AS, &l));
  E("mmap beyond it", mmap(0, 2UL << 30, PROT_NONE, PA | MAP_NORESERVE, -1, 0));
  E("mmap within it", munmap(mmap(0, 64UL << 20, PROT_NONE, PA, -1, 0), 64UL << 20));
  IS("brk beyond it", (char *)syscall(SYS_brk, (char *)syscall(SYS_brk, 0) + (1UL << 30)) == (char *)syscall(SYS_brk, 0));
  char *p = anon(4 * P);
  E("mremap beyond it", mremap(p, 4 * P, 2UL << 30, MREMAP_MAYMOVE));
  setrlimit(RLIMIT_AS, &old);
  getrlimit(RLIMIT_DATA, &old);
  l = old;
  l.rlim_cur = 1UL << 20;
  E("setrlimit data", setrlimit(RLIMIT_DATA, &l));
  E("writable mmap beyond it", mmap(0, 64UL << 20, RW, PA, -1, 0));
  E("read-only mmap beyond it", munmap(mmap(0, 64UL << 20, PROT_READ, PA, -1, 0), 64UL << 20));
  p = mmap(0, 64UL << 20, PROT_READ, PA, -1, 0);
  E("mprotect beyond it", mprotect(p, 64UL << 20, RW));
  setrlimit(RLIMIT_DATA, &old);
}

static void t_stack(void) {
  // an area that grows down, with room below it
  char *p = mmap(0, 1024 * P, PROT_NONE, PA | MAP_NORESERVE, -1, 0);
  munmap(p, 1024 * P);
  char *s = mmap(p + 1000 * P, 2 * P, RW, PA | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
  s[0] = 'g';
  POKE("page below grows", s - 8, 1);
  POKE("far below grows", s - 100 * P, 1);
  IS("all between is mapped", s[-50 * (long)P] == 0);
  char *low = mmap(p + 10 * P, P, RW, PA | MAP_FIXED, -1, 0);
  POKE("up to the guard", p + (10 + 1 + 256) * P, 1);
  POKE("into the guard", p + (10 + 1 + 255) * P, 1);
  munmap(low, P);
  E("mprotect growsdown", mprotect(s + P, P, RW | PROT_GROWSDOWN));
  char *q = anon(8 * P);
  munmap(q, 4 * P);
  POKE("below an ordinary area", q + 3 * P, 1);
}

static void t_copy(void) {
  // the kernel's own reads and writes of user memory
  int fd = file(3 * P);
  char *p = anon(4 * P);
  munmap(p + 3 * P, P);
  N("read into fresh pages", pread(fd, p, 3 * P, 0));
  IS("it is all there", p[0] == 'a' && p[P] == 'b' && p[3 * P - 1] == 'c');
  mprotect(p, P, PROT_READ);
  E("read into read-only memory", pread(fd, p, 10, 0));
  N("write from read-only memory", pwrite(fd, p, 10, 0));
  mprotect(p, P, PROT_NONE);
  E("write from no memory", pwrite(fd, p, 10, 0));
  E("read into unmapped memory", pread(fd, p + 3 * P, 10, 0));
  E("read into the kernel", pread(fd, (void *)0xffff900000000000UL, 10, 0));
  E("write from the kernel", pwrite(fd, (void *)0xffffffff80200000UL, 10, 0));
  E("read into a hole beyond canonical", pread(fd, (void *)0x8000000000000000UL, 10, 0));
  char *q = mmap(0, P, PROT_READ, MAP_PRIVATE, fd, 0);
  E("read into a private read-only file page", pread(fd, q, 10, 0));
  close(fd);
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*f)(void); } all[] = {
    {"mmap", t_mmap}, {"munmap", t_munmap}, {"mprotect", t_mprotect}, {"file", t_file}, {"shared", t_shared},
    {"mremap", t_mremap}, {"madvise", t_madvise}, {"lock", t_lock}, {"mincore", t_mincore}, {"brk", t_brk},
    {"msync", t_msync}, {"limits", t_limits}, {"stack", t_stack}, {"copy", t_copy}};
  struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, 0);
  sigaction(SIGBUS, &a, 0);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (argc > 1) {
      int want = 0;
      for (int k = 1; k < argc; k++) want |= !strcmp(argv[k], all[i].name);
      if (!want) continue;
    }
    say("-- %s", all[i].name);
    all[i].f();
  }
  unlink("/tmp/leveret-memory");
  return 0;
}
