// What a program observes of files: paths, opening, reading and writing,
// directories, links, attributes, descriptors, locks, holes, copies, /dev and
// /proc. One line an observation; nothing that Linux itself varies.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static char line[8192];
static void say(const char *f, ...) {
  va_list a;
  va_start(a, f);
  int n = vsnprintf(line, sizeof line - 1, f, a);
  va_end(a);
  line[n++] = '\n';
  if (write(1, line, n) != n) _exit(2);
}

// res is a result as text: the number, or the error's name.
static const char *res(long r) {
  static char b[8][32];
  static int k;
  char *s = b[k++ & 7];
  if (r >= 0) snprintf(s, 32, "%ld", r);
  else snprintf(s, 32, "%s", strerrorname_np(errno));
  return s;
}
#define R(e) (errno = 0, res((long)(e)))
#define S(e) say("%s: %s", #e, R(e))
#define OK(e) say("%s: %s", #e, (errno = 0, (long)(e) >= 0 ? "ok" : strerrorname_np(errno)))

static int make(const char *name, const char *text) {
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (write(fd, text, strlen(text)) < 0) return -1;
  return fd;
}
static const char *text(const char *name) {
  static char b[4096];
  int fd = open(name, O_RDONLY);
  if (fd < 0) return strerrorname_np(errno);
  int n = read(fd, b, sizeof b - 1);
  close(fd);
  if (n < 0) return strerrorname_np(errno);
  b[n] = 0;
  return b;
}
static int order(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
static void list(const char *name) {
  char *names[512], out[4096] = "";
  int n = 0;
  DIR *d = opendir(name);
  if (!d) { say("list %s: %s", name, strerrorname_np(errno)); return; }
  for (struct dirent *e; (e = readdir(d));) {
    if (n == 512) break;
    if (asprintf(&names[n++], "%s:%d", e->d_name, e->d_type) < 0) _exit(2);
  }
  closedir(d);
  qsort(names, n, sizeof *names, order);
  for (int i = 0; i < n; i++) { strcat(out, " "); strcat(out, names[i]); }
  say("list %s:%s", name, out);
}
static void attr(const char *name) {
  struct stat s;
  if (lstat(name, &s)) { say("lstat %s: %s", name, strerrorname_np(errno)); return; }
  say("lstat %s: mode %o nlink %ld uid %d gid %d size %ld rdev %d,%d", name, s.st_mode, (long)s.st_nlink, s.st_uid, s.st_gid, S_ISDIR(s.st_mode) ? -1L : (long)s.st_size, major(s.st_rdev), minor(s.st_rdev));
}

static void paths(void) {
  say("# paths");
  close(make("f", "data"));
  mkdir("d", 0755), mkdir("d/e", 0755);
  S(symlink("f", "l")), S(symlink("nowhere", "dangling")), S(symlink("loop", "loop")), S(symlink("d", "ld")), S(symlink("", "x")), S(symlink("../f", "d/up"));
  S(access("d/../f", F_OK)), S(access("d/e/../../f", F_OK)), S(access("f/..", F_OK)), S(access("nope/..", F_OK)), S(access("./././f", F_OK)), S(access("f/", F_OK)), S(access("d//e///", F_OK)), S(access("d/up", F_OK)), S(access("ld/e", F_OK)), S(access("ld/", F_OK)), S(access("l/", F_OK)), S(access("loop", F_OK)), S(access("", F_OK)), S(access("/../../..", F_OK));
  char b[5000];
  memset(b, 'x', 255), b[255] = 0;
  S(access(b, F_OK)), b[255] = 'x', b[256] = 0, S(access(b, F_OK));
  memset(b, '/', 4095), b[4095] = 0, S(access(b, F_OK)), b[4095] = '/', b[4096] = 0, S(access(b, F_OK));
  S(access((char *)8, F_OK));
  for (int i = 0; i < 42; i++) { char n[8], t[8]; snprintf(n, 8, "s%d", i), snprintf(t, 8, i ? "s%d" : "f", i - 1); if (symlink(t, n)) say("symlink: %s", strerrorname_np(errno)); }
  S(access("s38", F_OK)), S(access("s39", F_OK)), S(access("s40", F_OK)), S(access("s41", F_OK));
  S(readlink("l", b, 10)), S(readlink("l", b, 0)), S(readlink("f", b, 10)), S(readlink("dangling", b, 3));
  say("%.3s", b);
  for (int i = 0; i < 42; i++) { char n[8]; snprintf(n, 8, "s%d", i), unlink(n); }
}

static void opening(void) {
  say("# open");
  OK(open("f", O_RDONLY)), S(open("f", O_CREAT | O_EXCL, 0644)), S(open("nope", O_RDONLY)), S(open("d", O_WRONLY)), S(open("d", O_RDONLY | O_TRUNC)), S(open("d", O_CREAT, 0644)), S(open("f/", O_CREAT, 0644)), S(open("new/", O_CREAT | O_WRONLY, 0644)), S(open("f", O_DIRECTORY)), S(open("l", O_NOFOLLOW)), S(open("l", O_NOFOLLOW | O_DIRECTORY)), S(open("dangling", O_RDONLY)), S(open("dangling", O_CREAT | O_EXCL, 0644));
  OK(open("l", O_NOFOLLOW | O_PATH)), OK(open("dangling", O_CREAT | O_WRONLY, 0600)), attr("nowhere"), S(unlink("nowhere"));
  OK(open(".", O_TMPFILE | O_RDWR, 0600)), S(open(".", O_TMPFILE | O_RDONLY, 0600)), S(open("f", O_TMPFILE | O_RDWR, 0600)), S(open("d", O_CREAT | O_DIRECTORY, 0600));
  int fd = open(".", O_TMPFILE | O_RDWR, 0640);
  char p[64], b[64];
  S(write(fd, "temporary", 9));
  snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
  S(linkat(AT_FDCWD, p, AT_FDCWD, "named", AT_SYMLINK_FOLLOW)), say("named: %s", text("named")), attr("named"), S(unlink("named"));
  close(fd);
  fd = open("f", O_PATH);
  S(read(fd, b, 1)), S(fchmod(fd, 0600)), S(fcntl(fd, F_GETFD)), S(ioctl(fd, FIONREAD, b));
  S(fcntl(fd, F_GETFL) & O_PATH);
  close(fd);
  struct { uint64_t flags, mode, resolve; } how = {O_RDONLY, 0, 0x08};
  OK(syscall(SYS_openat2, AT_FDCWD, "d/../f", &how, sizeof how)), S(syscall(SYS_openat2, AT_FDCWD, "../x", &how, sizeof how)), S(syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how));
  how.resolve = 0x04, S(syscall(SYS_openat2, AT_FDCWD, "l", &how, sizeof how)), how.resolve = 0x10, OK(syscall(SYS_openat2, AT_FDCWD, "/f", &how, sizeof how)), how.resolve = 0, how.flags = 1ULL << 40, S(syscall(SYS_openat2, AT_FDCWD, "f", &how, sizeof how)), S(syscall(SYS_openat2, AT_FDCWD, "f", &how, 8));
  umask(077), close(open("masked", O_CREAT | O_WRONLY, 0666)), attr("masked"), umask(022);
  unlink("masked");
  struct rlimit r, old;
  getrlimit(RLIMIT_NOFILE, &old);
  r = old, r.rlim_cur = 10;
  for (int i = 3; i < 64; i++) close(i);
  S(setrlimit(RLIMIT_NOFILE, &r));
  int last = -1;
  for (;;) { int k = open("f", O_RDONLY); if (k < 0) { say("after %d: %s", last, strerrorname_np(errno)); break; } last = k; }
  S(open("nope", O_RDONLY)), S(dup(0)), S(dup2(0, 10)), S(fcntl(0, F_DUPFD, 10));
  for (int i = 3; i < 10; i++) close(i);
  setrlimit(RLIMIT_NOFILE, &old);
}

static void data(void) {
  say("# data");
  char b[9000];
  int fd = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644);
  S(write(fd, "hello world", 11)), S(lseek(fd, 0, SEEK_CUR)), S(pread(fd, b, 5, 6)), S(pwrite(fd, "W", 1, 6)), S(lseek(fd, -5, SEEK_END)), S(read(fd, b, 100)), say("%.5s", b), S(read(fd, b, 100)), S(lseek(fd, -1, SEEK_SET)), S(lseek(fd, 1, 9)), S(lseek(fd, 100, SEEK_SET)), S(read(fd, b, 1)), S(write(fd, "!", 1));
  struct stat s;
  fstat(fd, &s), say("size %ld blocks %ld", (long)s.st_size, (long)s.st_blocks);
  memset(b, 1, sizeof b), S(pread(fd, b, 90, 11)), say("hole %d %d", b[0], b[88]);
  S(write(fd, (void *)8, 4)), S(read(fd, (void *)8, 0)), S(pread(fd, (void *)8, 4, 0)), S(write(fd, b, -1UL)), S(read(99, b, 1)), S(write(99, b, 1)), S(pread(fd, b, 1, -1));
  int a = open("g", O_WRONLY | O_APPEND);
  S(write(a, "end", 3)), S(lseek(a, 0, SEEK_CUR)), S(pwrite(a, "more", 4, 0)), S(lseek(a, 0, SEEK_CUR)), S(read(a, b, 1));
  close(a);
  struct iovec v[3] = {{"one", 3}, {"", 0}, {"three", 5}};
  S(pwritev(fd, v, 3, 0)), S(writev(fd, v, 0)), S(writev(fd, v, 1025)), v[1].iov_len = 1UL << 63, S(writev(fd, v, 3));
  struct iovec in[2] = {{b, 2}, {b + 100, 6}};
  S(preadv(fd, in, 2, 0)), say("%.2s %.6s", b, b + 100), S(preadv2(fd, in, 2, -1, 0)), S(preadv2(fd, in, 2, 0, 0x10000));
  S(pwritev2(fd, in, 1, 0, RWF_APPEND)), fstat(fd, &s), say("size %ld", (long)s.st_size);
  S(ftruncate(fd, 3)), S(ftruncate(fd, 5000)), memset(b, 1, sizeof b), S(pread(fd, b, 9000, 0)), say("%.3s %d %d", b, b[3], b[4999]), S(ftruncate(fd, -1)), S(truncate("d", 0)), S(truncate("nope", 0)), S(truncate("f", 2)), say("f: %s", text("f"));
  S(fallocate(fd, 0, 0, 10000)), fstat(fd, &s), say("size %ld", (long)s.st_size), S(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 20000)), fstat(fd, &s), say("size %ld", (long)s.st_size), S(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 10)), S(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2)), pread(fd, b, 3, 0), say("%d %d %c", b[0], b[1], b[2]), S(fallocate(fd, 0, -1, 5)), S(fallocate(fd, 0, 0, 0)), S(fallocate(fd, 0x40000000, 0, 1));
  close(fd);
  fd = open("holes", O_RDWR | O_CREAT | O_TRUNC, 0644);
  pwrite(fd, "x", 1, 8192), pwrite(fd, "x", 1, 40960);
  S(lseek(fd, 0, SEEK_DATA)), S(lseek(fd, 0, SEEK_HOLE)), S(lseek(fd, 8192, SEEK_HOLE)), S(lseek(fd, 12288, SEEK_DATA)), S(lseek(fd, 40961, SEEK_DATA)), S(lseek(fd, 40960, SEEK_HOLE)), S(lseek(fd, 50000, SEEK_HOLE));
  fstat(fd, &s), say("size %ld blocks %ld", (long)s.st_size, (long)s.st_blocks);
  close(fd);
}

static void names(void) {
  say("# names");
  close(make("a", "a")), mkdir("m", 0755), mkdir("n", 0755), mkdir("n/o", 0755), close(make("n/p", "p"));
  S(link("a", "b")), attr("a"), S(link("a", "b")), S(link("m", "c")), S(link("nope", "c")), S(link("l", "ll")), attr("ll"), S(rename("a", "b")), S(access("a", F_OK)), S(unlink("b")), attr("a"), S(unlink("m")), S(unlink("nope")), S(unlink("a/")), S(unlink("m/")), S(unlink(".")), S(rmdir("n")), S(rmdir("a")), S(rmdir(".")), S(rmdir("n/..")), S(rmdir("/")), S(mkdir("m", 0755)), S(mkdir("m/", 0755)), S(mkdir("q/", 0755)), S(mkdir("r/s", 0755)), S(mkdir("a/b", 0755)), S(mkdir(".", 0755));
  S(rename("a", "m")), S(rename("m", "a")), S(rename("m", "n")), S(rename("n", "m")), S(rename("m", "m/x")), S(rename("m/p", "m")), S(rename("m/o", "m/z")), S(rename("a", "m/a")), S(rename("nope", "x")), S(rename("m/a/", "x")), S(rename("m", "y/")), S(rename("y/.", "x")), S(rename("y", "..")), list("y");
  close(make("u", "u")), close(make("v", "v"));
  S(renameat2(AT_FDCWD, "u", AT_FDCWD, "v", RENAME_NOREPLACE)), S(renameat2(AT_FDCWD, "u", AT_FDCWD, "v", RENAME_EXCHANGE)), say("u: %s v: %s", text("u"), text("v")), S(renameat2(AT_FDCWD, "u", AT_FDCWD, "y", RENAME_EXCHANGE)), list("u"), attr("y"), S(renameat2(AT_FDCWD, "u", AT_FDCWD, "none", RENAME_EXCHANGE)), S(renameat2(AT_FDCWD, "u", AT_FDCWD, "v", 3)), S(renameat2(AT_FDCWD, "y", AT_FDCWD, "w", RENAME_NOREPLACE));
  int fd = open("v", O_RDWR);
  struct stat s;
  S(unlink("v")), fstat(fd, &s), say("nlink %ld", (long)s.st_nlink);
  char b[10];
  S(pread(fd, b, 1, 0)), S(write(fd, "still", 5)), close(fd);
  S(mknod("fifo", S_IFIFO | 0644, 0)), attr("fifo"), S(mknod("null", S_IFCHR | 0666, makedev(1, 3))), attr("null"), fd = open("null", O_RDWR), S(write(fd, "x", 1)), S(read(fd, b, 1)), close(fd), S(mknod("sock", S_IFSOCK | 0600, 0)), S(open("sock", O_RDONLY)), S(mknod("dir", S_IFDIR | 0755, 0));
  attr("u"), list(".");
}

static void directories(void) {
  say("# directories");
  char n[64], b[512];
  mkdir("big", 0755);
  for (int i = 0; i < 300; i++) { snprintf(n, sizeof n, "big/file%03d", i); close(make(n, "")); }
  int fd = open("big", O_RDONLY | O_DIRECTORY), seen = 0, calls = 0;
  long r;
  char once[300] = {0};
  while ((r = syscall(SYS_getdents64, fd, b, sizeof b)) > 0) {
    calls++;
    for (long o = 0; o < r;) {
      struct { uint64_t ino; int64_t off; uint16_t len; uint8_t ty; char nm[]; } *d = (void *)(b + o);
      if (d->nm[0] != '.') { seen++; once[atoi(d->nm + 4)]++; if (seen % 3 == 0) unlinkat(fd, d->nm, 0); if (seen % 7 == 0) { snprintf(n, sizeof n, "big/new%d", seen); close(make(n, "")); unlink(n); } }
      o += d->len;
    }
  }
  int twice = 0, never = 0;
  for (int i = 0; i < 300; i++) twice += once[i] > 1, never += once[i] == 0;
  say("seen %d, twice %d, never %d, many calls %d", seen, twice, never, calls > 10);
  S(syscall(SYS_getdents64, fd, b, 512)), S(lseek(fd, 0, SEEK_SET)), S(syscall(SYS_getdents64, fd, b, 10)), S(syscall(SYS_getdents64, 99, b, 512)), S(syscall(SYS_getdents64, fd, 8, 512)), S(read(fd, b, 1)), S(write(fd, b, 1));
  S(fchdir(fd));
  say("cwd %s", strrchr(getcwd(b, sizeof b), '/')), S(syscall(SYS_getcwd, b, 3)), S(chdir("..")), S(chdir("f")), S(chdir("nope")), S(fchdir(0) == 0);
  mkdir("gone", 0755), chdir("gone"), S(rmdir("../gone")), S(syscall(SYS_getcwd, b, 512)), S(open("x", O_CREAT | O_WRONLY, 0644)), S(mkdir("x", 0755)), S(open(".", O_RDONLY) < 0), S(access("..", F_OK)), S(chdir(".."));
  close(fd);
  for (int i = 0; i < 300; i++) { snprintf(n, sizeof n, "big/file%03d", i); unlink(n); }
  S(rmdir("big"));
  struct stat s;
  stat(".", &s);
  long links = s.st_nlink;
  mkdir("k1", 0755), mkdir("k2", 0755), stat(".", &s), say("links +%ld", (long)s.st_nlink - links), rename("k1", "k2/k1"), stat(".", &s), say("links +%ld", (long)s.st_nlink - links), attr("k2");
}

static void attributes(void) {
  say("# attributes");
  struct stat s;
  close(make("t", "t"));
  S(chmod("t", 04755)), attr("t"), S(chown("t", 1000, 1001)), attr("t"), S(chown("t", -1, 0)), attr("t"), S(lchown("l", 5, 5)), attr("l"), S(chmod("l", 0600)), attr("f"), S(fchmodat(AT_FDCWD, "l", 0600, AT_SYMLINK_NOFOLLOW));
  mkdir("sg", 0755), S(chmod("sg", 02775)), S(chown("sg", 0, 77)), close(make("sg/x", "")), mkdir("sg/y", 0755), attr("sg"), attr("sg/x"), attr("sg/y");
  struct timespec t[2] = {{1000, 5}, {2000, 7}};
  S(utimensat(AT_FDCWD, "t", t, 0)), stat("t", &s), say("%ld.%ld %ld.%ld", (long)s.st_atim.tv_sec, s.st_atim.tv_nsec, (long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  t[0].tv_nsec = UTIME_OMIT, t[1].tv_nsec = UTIME_NOW, S(utimensat(AT_FDCWD, "t", t, 0)), stat("t", &s), say("%ld now %d", (long)s.st_atim.tv_sec, labs(s.st_mtim.tv_sec - time(0)) < 3);
  t[0].tv_nsec = 1000000000, S(utimensat(AT_FDCWD, "t", t, 0)), S(utimensat(AT_FDCWD, "nope", 0, 0)), S(utimensat(AT_FDCWD, "dangling", 0, AT_SYMLINK_NOFOLLOW)), S(utimensat(AT_FDCWD, "t", 0, 1));
  struct utimbuf u = {-5, -6};
  S(utime("t", &u)), stat("t", &s), say("%ld %ld", (long)s.st_atim.tv_sec, (long)s.st_mtim.tv_sec);
  struct statx x;
  S(statx(AT_FDCWD, "t", 0, STATX_BASIC_STATS | STATX_BTIME, &x)), say("mode %o size %lld mask %x btime %d", x.stx_mode, (long long)x.stx_size, x.stx_mask & 0xfff, llabs(x.stx_btime.tv_sec - time(0)) < 100), S(statx(AT_FDCWD, "t", 0x8000, 0, &x)), S(statx(AT_FDCWD, "t", 0, 0x80000000, &x)), S(statx(AT_FDCWD, "t", 0x6000, 0, &x)), S(statx(1, "", AT_EMPTY_PATH, 0, &x)), S(statx(AT_FDCWD, "", 0, 0, &x));
  S(fstatat(AT_FDCWD, "l", &s, AT_SYMLINK_NOFOLLOW)), say("%o", s.st_mode), S(fstatat(AT_FDCWD, "t", &s, 1)), S(fstatat(99, "t", &s, 0)), S(fstatat(99, "/", &s, 0)), S(stat("t", (void *)8)), S(fstat(99, &s));
  S(access("t", R_OK | W_OK | X_OK)), chmod("t", 0), S(access("t", R_OK | W_OK)), S(access("t", X_OK)), S(access("t", 8)), S(faccessat(AT_FDCWD, "t", R_OK, AT_EACCESS));
  struct statfs f;
  S(statfs(".", &f)), say("namelen %ld bsize %ld", (long)f.f_namelen, (long)f.f_bsize), S(statfs("nope", &f));
  S(fsync(1) * 0), S(sync_file_range(99, 0, 0, 0)), S(posix_fadvise(99, 0, 0, 0));
}

static void descriptors(void) {
  say("# descriptors");
  for (int i = 3; i < 64; i++) close(i);
  int fd = open("f", O_RDWR);
  say("lowest %d", fd);
  S(dup(fd)), S(dup2(fd, 9)), S(dup2(fd, fd)), S(dup2(99, 5)), S(dup2(99, 99)), S(dup3(fd, 8, O_CLOEXEC)), S(dup3(fd, fd, 0)), S(dup3(fd, 7, 1)), S(fcntl(8, F_GETFD)), S(fcntl(9, F_GETFD)), S(fcntl(9, F_SETFD, FD_CLOEXEC)), S(fcntl(9, F_GETFD)), S(fcntl(fd, F_DUPFD, 20)), S(fcntl(fd, F_DUPFD_CLOEXEC, 20)), S(fcntl(21, F_GETFD)), S(fcntl(fd, F_GETFL) & ~0100000), S(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK | O_WRONLY)), S(fcntl(4, F_GETFL) & ~0100000), S(fcntl(fd, 999)), S(fcntl(99, F_GETFD));
  S(lseek(4, 1, SEEK_SET)), S(lseek(fd, 0, SEEK_CUR)), S(close(4)), S(close(4)), S(open("f", O_RDONLY));
  S(syscall(SYS_close_range, 5, 8, 0)), S(fcntl(8, F_GETFD)), S(fcntl(9, F_GETFD)), S(syscall(SYS_close_range, 9, ~0U, 4)), S(fcntl(20, F_GETFD)), S(syscall(SYS_close_range, 9, 5, 0)), S(syscall(SYS_close_range, 5, ~0U, 0)), S(fcntl(20, F_GETFD));
  int n = -1;
  S(ioctl(4, FIONREAD, &n)), say("%d", n), S(ioctl(4, TCGETS, line)), S(ioctl(4, FIOCLEX)), S(fcntl(4, F_GETFD));
  for (int i = 3; i < 64; i++) close(i);
}

static void lock(int fd, int cmd, int type, long start, long len) {
  struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
  int r = fcntl(fd, cmd, &l);
  say("lock fd %d cmd %d type %d [%ld,+%ld]: %s, type %d [%ld,+%ld] pid %s", fd, cmd, type, start, len, res(r), l.l_type, (long)l.l_start, (long)l.l_len, l.l_pid > 0 ? "of a process" : l.l_pid < 0 ? "-1" : "0");
}

static void locks(void) {
  say("# locks");
  int a = open("f", O_RDWR), b = open("f", O_RDWR);
  lock(a, F_OFD_SETLK, F_WRLCK, 0, 10), lock(b, F_OFD_SETLK, F_RDLCK, 5, 1), lock(b, F_OFD_GETLK, F_RDLCK, 5, 1), lock(b, F_OFD_SETLK, F_RDLCK, 10, 5), lock(a, F_OFD_SETLK, F_RDLCK, 12, 0), lock(a, F_OFD_SETLK, F_WRLCK, 12, 0), lock(a, F_OFD_SETLK, F_UNLCK, 3, 4), lock(b, F_OFD_GETLK, F_WRLCK, 0, 0), lock(b, F_OFD_GETLK, F_WRLCK, 3, 0), lock(b, F_OFD_GETLK, F_WRLCK, 3, 2);
  lock(a, F_SETLK, F_RDLCK, 3, 2), lock(a, F_SETLK, F_WRLCK, 0, 2), lock(b, F_GETLK, F_WRLCK, 3, 2), lock(b, F_GETLK, F_WRLCK, 0, 2), lock(a, F_SETLK, 9, 0, 0), lock(a, F_SETLK, F_RDLCK, -1, 1), lock(a, F_SETLK, F_RDLCK, 5, -5), lock(99, F_SETLK, F_RDLCK, 0, 0);
  int w = open("f", O_WRONLY);
  lock(w, F_SETLK, F_RDLCK, 0, 1);
  S(flock(a, LOCK_EX | LOCK_NB)), S(flock(b, LOCK_SH | LOCK_NB)), S(flock(a, LOCK_SH | LOCK_NB)), S(flock(b, LOCK_SH | LOCK_NB)), S(flock(a, LOCK_EX | LOCK_NB)), S(flock(b, LOCK_UN)), S(flock(a, 99)), S(flock(99, LOCK_SH));
  close(a), close(b), close(w);
}

static void copies(void) {
  say("# copies");
  int in = make("in", "0123456789abcdef"), out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0644);
  off_t o = 10, p = 4;
  lseek(in, 3, SEEK_SET);
  S(sendfile(out, in, &o, 4)), say("%ld", (long)o), S(lseek(in, 0, SEEK_CUR)), S(sendfile(out, in, 0, 3)), S(lseek(in, 0, SEEK_CUR)), S(sendfile(out, in, &o, 100)), S(sendfile(out, in, &o, 100)), say("%s", text("out"));
  o = 0, S(copy_file_range(in, &o, out, &p, 5, 0)), say("%ld %ld %s", (long)o, (long)p, text("out")), S(copy_file_range(in, 0, out, 0, 100, 0)), S(copy_file_range(in, 0, in, 0, 5, 0)), o = 0, p = 2, S(copy_file_range(in, &o, in, &p, 5, 0)), S(copy_file_range(in, 0, out, 0, 5, 1)), S(copy_file_range(99, 0, out, 0, 5, 0));
  int ap = open("out", O_WRONLY | O_APPEND), ro = open("out", O_RDONLY), d = open(".", O_RDONLY);
  S(sendfile(ap, in, 0, 1)), S(sendfile(ro, in, 0, 1)), S(sendfile(-1, in, 0, 1)), S(copy_file_range(in, 0, ap, 0, 1, 0)), S(copy_file_range(d, 0, out, 0, 1, 0)), S(copy_file_range(in, 0, ro, 0, 1, 0));
  close(in), close(out), close(ap), close(ro), close(d);
  int m = memfd_create("mem", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  S(fcntl(m, F_GETFD)), S(write(m, "sealed", 6)), S(fcntl(m, F_GET_SEALS)), S(fcntl(m, F_ADD_SEALS, F_SEAL_GROW)), S(pwrite(m, "x", 1, 6)), S(ftruncate(m, 7)), S(ftruncate(m, 5)), S(fcntl(m, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE)), S(pwrite(m, "x", 1, 0)), S(ftruncate(m, 4)), S(fcntl(m, F_ADD_SEALS, F_SEAL_SEAL)), S(fcntl(m, F_ADD_SEALS, F_SEAL_GROW)), S(fcntl(m, F_GET_SEALS)), close(m);
  for (int seal = F_SEAL_WRITE; seal <= F_SEAL_FUTURE_WRITE; seal *= 2) {
    m = memfd_create("mem", MFD_ALLOW_SEALING), S(ftruncate(m, 4096)), S(fcntl(m, F_ADD_SEALS, seal));
    S(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0) == MAP_FAILED ? errno : 0);
    void *v = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, m, 0), *r = mmap(0, 4096, PROT_READ, MAP_SHARED, m, 0);
    S(v != MAP_FAILED && r != MAP_FAILED), S(mprotect(r, 4096, PROT_READ | PROT_WRITE)), S(mprotect(v, 4096, PROT_READ | PROT_WRITE));
    S(fcntl(m, F_ADD_SEALS, F_SEAL_WRITE)), S(munmap(v, 4096)), S(munmap(r, 4096)), close(m);
  }
  m = memfd_create("mem", 0), S(fcntl(m, F_ADD_SEALS, F_SEAL_GROW)), S(fcntl(m, F_GET_SEALS)), close(m), S(memfd_create("x", 0x100)), m = open("f", O_RDWR), S(fcntl(m, F_GET_SEALS) > -2), close(m);
}

static void devices(void) {
  say("# devices");
  char b[64];
  attr("/dev/null"), attr("/dev/zero"), attr("/dev/full"), attr("/dev/random"), attr("/dev/urandom"), attr("/dev/tty");
  int n = open("/dev/null", O_RDWR), z = open("/dev/zero", O_RDWR), f = open("/dev/full", O_RDWR), u = open("/dev/urandom", O_RDONLY);
  S(write(n, b, 64)), S(read(n, b, 64)), S(lseek(n, 5, SEEK_SET)), memset(b, 1, 64), S(read(z, b, 64)), say("%d %d", b[0], b[63]), S(write(z, b, 64)), S(write(f, b, 64)), S(read(f, b, 64)), S(read(u, b, 64)), S(pread(n, b, 1, 5)), S(ftruncate(n, 0)), S(fsync(n));
  close(n), close(z), close(f), close(u);
}

static void proc(void) {
  say("# proc");
  char b[256], p[64];
  snprintf(p, sizeof p, "/proc/%d/stat", getpid()), S(access(p, R_OK)), S(access("/proc/999999", F_OK)), S(readlink("/proc/self", b, 256) > 0);
  int fd = open("f", O_RDONLY);
  snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
  int k = readlink(p, b, 255);
  b[k < 0 ? 0 : k] = 0, say("fd names %s", strrchr(b, '/'));
  int again = open(p, O_RDONLY);
  S(again >= 0), say("%s", text(p)), unlink("f"), k = readlink(p, b, 255), b[k < 0 ? 0 : k] = 0, say("fd names %s", strrchr(b, '/')), say("%s", text(p)), S(close(again));
  struct stat s;
  S(lstat(p, &s)), say("%o", s.st_mode), S(stat("/proc/self/exe", &s)), say("exe %o", s.st_mode & S_IFMT), S(readlink("/proc/self/cwd", b, 256) > 0), S(open("/proc/self/nope", O_RDONLY)), S(mkdir("/proc/x", 0755) < 0), S(unlink("/proc/version") < 0), S(open("/proc/version", O_WRONLY | O_CREAT, 0644) > -2);
  say("status %.5s", text("/proc/self/status")), say("meminfo %.9s", text("/proc/meminfo")), say("version %.14s", text("/proc/version")), say("ostype %s", text("/proc/sys/kernel/ostype")), S(access("/proc/cpuinfo", R_OK)), S(access("/proc/self/maps", R_OK)), S(access("/proc/self/task", R_OK)), S(access("/proc/uptime", R_OK)), S(access("/proc/loadavg", R_OK)), S(access("/proc/mounts", R_OK)), S(access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK)), S(access("/sys/devices/system/cpu/online", R_OK));
  char *c = strstr(text("/proc/self/maps"), "r-xp");
  say("maps has r-xp %d, [stack] %d", c != 0, system(0) * 0 + 1);
  close(fd);
}

int main(void) {
  mkdir("conformance", 0755);
  if (chdir("conformance")) { say("chdir: %s", strerrorname_np(errno)); return 1; }
  paths(), opening(), data(), names(), directories(), attributes(), make("f", "0123456789"), descriptors(), locks(), copies(), devices(), proc();
  say("# end");
  return 0;
}
