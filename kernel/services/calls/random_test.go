package calls

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var (
	randomSeed  = flag.Uint64("calls.seed", 1, "first seed of the random programs")
	randomSeeds = flag.Int("calls.seeds", 30, "how many random programs")
	randomSteps = flag.Int("calls.steps", 400, "calls of each")
)

// TestRandomPrograms runs random calls on few names and descriptors, each on
// Linux and here. After the first difference a program is over.
func TestRandomPrograms(t *testing.T) {
	for seed := *randomSeed; seed < *randomSeed+uint64(*randomSeeds); seed++ {
		o := newOracle(t)
		g := &generator{rand.New(rand.NewPCG(seed, 7))}
		o.log = nil
		allocated := false
		for range *randomSteps {
			s := g.step()
			if s.nr == unix.SYS_LSEEK && s.args[1] != 0 && o.isDir(s.args[0].(int)) {
				continue // positions in a directory are its own affair
			}
			if s.nr == unix.SYS_LSEEK && allocated && s.args[2].(int) >= unix.SEEK_DATA {
				continue // pages without contents count as holes on Linux
			}
			n, same := o.run(s)
			allocated = allocated || s.nr == unix.SYS_FALLOCATE && n == 0
			if !same {
				t.Logf("that was seed %d", seed)
				if *randomSeeds == 1 {
					t.Logf("before that:\n%s", strings.Join(o.log[max(0, len(o.log)-60):], "\n"))
				}
				break
			}
		}
	}
}

func (o *oracle) isDir(fd int) bool {
	f := o.p.files.Get(uint64(fd))
	if f == nil {
		return false
	}
	defer f.Close()
	return f.Inode.IsDir()
}

type generator struct{ *rand.Rand }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

var long = strings.Repeat("x", 256)

func (g *generator) path() string {
	base := func() string {
		return pick(g, "a", "b", "c", "d", "e", "f", "l", "m", "d", "e")
	}
	switch g.IntN(16) {
	case 0, 1, 2, 3, 4, 5:
		return base()
	case 6, 7:
		return base() + "/" + base()
	case 8:
		return base() + "/" + base() + "/" + base()
	case 9:
		return "/" + base()
	case 10:
		return base() + pick(g, "/", "/.", "/..", "//", "/./")
	case 11:
		return pick(g, "../", "./", "/", "..//", "d/../") + base()
	case 12:
		return base() + "/../" + base()
	case 13:
		return pick(g, "", ".", "..", "/", "/..", "//", "./..", "../..", "d/.", "d/..")
	case 14:
		return pick(g, long, long[:255], "a/"+long, strings.Repeat("a/", 2048), strings.Repeat("./", 2047)+"a")
	}
	return base() + "/" + base() + "/"
}

func (g *generator) fd() int { return pick(g, 3, 3, 4, 4, 5, 5, 6, 7, 8, 0, 99, -1) }

func (g *generator) dirfd() int {
	return pick(g, unix.AT_FDCWD, unix.AT_FDCWD, unix.AT_FDCWD, g.fd())
}

func (g *generator) flags() int {
	f := pick(g, unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_RDWR, unix.O_ACCMODE)
	for _, x := range []int{unix.O_CREAT, unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND, unix.O_DIRECTORY, unix.O_NOFOLLOW, unix.O_PATH, unix.O_TMPFILE, unix.O_CLOEXEC, unix.O_NONBLOCK} {
		if g.IntN(5) == 0 {
			f |= x
		}
	}
	return f | unix.O_NONBLOCK // never wait for the other end of a fifo
}

func (g *generator) mode() int {
	return pick(g, 0o644, 0o755, 0o600, 0o777, 0o000, 0o1777, 0o4755, 0o2755, 0o6777, 0o7777)
}
func (g *generator) size() int {
	return pick(g, 0, 1, 2, 10, 100, 4095, 4096, 4097, 10000, 65536, 70000)
}
func (g *generator) off() int {
	return pick(g, 0, 0, 1, 5, 4095, 4096, 8192, 10000, 100000, -1, 1<<40, 1<<63-1)
}

func (g *generator) lock() raw {
	b := make(raw, 32)
	binary.LittleEndian.PutUint16(b, uint16(pick(g, unix.F_RDLCK, unix.F_WRLCK, unix.F_UNLCK, 7)))
	binary.LittleEndian.PutUint16(b[2:], uint16(pick(g, 0, 0, 1, 2, 3)))
	binary.LittleEndian.PutUint64(b[8:], uint64(pick(g, 0, 1, 10, 20, -5, 1<<63-1)))
	binary.LittleEndian.PutUint64(b[16:], uint64(pick(g, 0, 1, 10, 100, -5, 1<<63-1)))
	binary.LittleEndian.PutUint32(b[24:], uint32(pick(g, 0, 0, 0, 1)))
	return b
}

func (g *generator) step() step {
	switch g.IntN(62) {
	case 0, 1, 2, 3, 4, 5:
		return do(unix.SYS_OPENAT, g.dirfd(), g.path(), g.flags(), g.mode())
	case 6, 7, 8:
		return do(unix.SYS_CLOSE, g.fd())
	case 9, 10:
		return do(unix.SYS_READ, g.fd(), out(g.size()), g.size())
	case 11, 12, 13:
		n := g.size()
		return do(unix.SYS_WRITE, g.fd(), raw(strings.Repeat(string(rune('a'+g.IntN(26))), n)), n)
	case 14:
		n := g.size()
		return do(unix.SYS_PREAD64, g.fd(), out(n), n, g.off())
	case 15, 16:
		n := g.size()
		if off := g.off(); off < 1<<30 {
			return do(unix.SYS_PWRITE64, g.fd(), raw(strings.Repeat("p", n)), n, off)
		}
		return do(unix.SYS_PWRITE64, g.fd(), raw("x"), 1, g.off())
	case 17, 18:
		return do(unix.SYS_LSEEK, g.fd(), g.off(), pick(g, 0, 1, 2, 3, 4, 5, 3, 4))
	case 19:
		return do(unix.SYS_FTRUNCATE, g.fd(), pick(g, 0, 1, 4095, 4096, 10000, -1, 1<<40))
	case 20:
		return do(unix.SYS_TRUNCATE, g.path(), pick(g, 0, 1, 4095, 4096, 10000, -1))
	case 21, 22, 23, 24:
		return do(unix.SYS_MKDIR, g.path(), g.mode())
	case 25:
		return do(unix.SYS_RMDIR, g.path())
	case 26, 27:
		return do(unix.SYS_UNLINK, g.path())
	case 28:
		return do(unix.SYS_UNLINKAT, g.dirfd(), g.path(), pick(g, 0, unix.AT_REMOVEDIR, 1))
	case 29, 30, 31:
		return do(unix.SYS_RENAME, g.path(), g.path())
	case 32, 33:
		return do(unix.SYS_RENAMEAT2, g.dirfd(), g.path(), g.dirfd(), g.path(), pick(g, 0, unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE, unix.RENAME_EXCHANGE, 3, 8))
	case 34, 35:
		return do(unix.SYS_LINK, g.path(), g.path())
	case 36:
		return do(unix.SYS_LINKAT, g.dirfd(), g.path(), g.dirfd(), g.path(), pick(g, 0, unix.AT_SYMLINK_FOLLOW, unix.AT_EMPTY_PATH, 1))
	case 37, 38, 39:
		return do(unix.SYS_SYMLINK, g.path(), g.path())
	case 40:
		return do(unix.SYS_READLINKAT, g.dirfd(), g.path(), out(100), pick(g, 100, 3, 0, -1))
	case 41, 42:
		return do(unix.SYS_STAT, g.path(), out(144))
	case 43:
		return do(unix.SYS_LSTAT, g.path(), out(144))
	case 44:
		return do(unix.SYS_FSTAT, g.fd(), out(144))
	case 45:
		return do(unix.SYS_NEWFSTATAT, g.dirfd(), g.path(), out(144), pick(g, 0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH, unix.AT_NO_AUTOMOUNT, 1, 0x10000))
	case 46:
		return do(unix.SYS_STATX, g.dirfd(), g.path(), pick(g, 0, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH, 0x6000, 1), pick(g, unix.STATX_BASIC_STATS, 0xfff, 0), out(256))
	case 47:
		return do(unix.SYS_FACCESSAT2, g.dirfd(), g.path(), pick(g, 0, 1, 2, 4, 7, 8), pick(g, 0, unix.AT_EACCESS, unix.AT_SYMLINK_NOFOLLOW, unix.AT_EMPTY_PATH, 1))
	case 48:
		return do(unix.SYS_CHMOD, g.path(), g.mode())
	case 49:
		return pick(g, do(unix.SYS_DUP, g.fd()), do(unix.SYS_DUP2, g.fd(), pick(g, 3, 5, 9, -1, 1<<30)), do(unix.SYS_DUP3, g.fd(), pick(g, 3, 5, 9, -1), pick(g, 0, unix.O_CLOEXEC, 1)))
	case 50:
		return do(unix.SYS_FCNTL, g.fd(), pick(g, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, 99), pick(g, 0, 1, 5))
	case 51:
		return do(unix.SYS_FCNTL, g.fd(), pick(g, unix.F_SETLK, unix.F_GETLK, unix.F_OFD_SETLK, unix.F_OFD_GETLK, unix.F_SETLK), g.lock())
	case 52, 53:
		return do(unix.SYS_GETDENTS64, g.fd(), out(4096), pick(g, 4096, 4096, 10))
	case 54:
		return pick(g, do(unix.SYS_CHDIR, g.path()), do(unix.SYS_CHDIR, "/"), do(unix.SYS_CHDIR, ".."), do(unix.SYS_FCHDIR, g.fd()))
	case 55:
		return do(unix.SYS_GETCWD, out(200), pick(g, 200, 200, 200, 3, 0))
	case 56:
		return do(unix.SYS_FALLOCATE, g.fd(), pick(g, 0, 1, 3, 2, 8, 16), pick(g, 0, 1, 4096, 5000, -1), pick(g, 0, 1, 4096, 10000, -1))
	case 57:
		return do(unix.SYS_COPY_FILE_RANGE, g.fd(), 0, g.fd(), 0, pick(g, 0, 1, 5000, 100000), pick(g, 0, 0, 0, 1))
	case 58:
		return do(unix.SYS_SENDFILE, g.fd(), g.fd(), 0, pick(g, 0, 1, 5000, 100000))
	case 59:
		return pick(g, do(unix.SYS_UTIMENSAT, g.dirfd(), g.path(), 0, pick(g, 0, unix.AT_SYMLINK_NOFOLLOW, 1)), do(unix.SYS_MKNOD, g.path(), pick(g, 0o644, unix.S_IFREG|0o600, unix.S_IFSOCK|0o644, unix.S_IFDIR|0o755, 0o110000), 0),
			do(unix.SYS_CHOWN, g.path(), pick(g, 0, 1000, -1), pick(g, 0, 1000, -1)), do(unix.SYS_UMASK, pick(g, 0o022, 0, 0o77)))
	case 60:
		return do(unix.SYS_FLOCK, g.fd(), pick(g, 1, 2, 8, 3)|unix.LOCK_NB)
	}
	v := vec{raw("one"), raw(strings.Repeat("2", g.size())), raw("three")}
	if g.IntN(2) == 0 {
		return do(unix.SYS_READV, g.fd(), vec{out(3), out(g.size()), out(7)}, 3)
	}
	return do(unix.SYS_WRITEV, g.fd(), v, 3)
}
