package calls

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressOf is where a buffer lies: the test makes raw system calls.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

var names = map[uintptr]string{
	unix.SYS_READ: "read", unix.SYS_WRITE: "write", unix.SYS_OPEN: "open", unix.SYS_CLOSE: "close", unix.SYS_STAT: "stat", unix.SYS_FSTAT: "fstat", unix.SYS_LSTAT: "lstat",
	unix.SYS_LSEEK: "lseek", unix.SYS_PREAD64: "pread", unix.SYS_PWRITE64: "pwrite", unix.SYS_READV: "readv", unix.SYS_WRITEV: "writev", unix.SYS_ACCESS: "access", unix.SYS_DUP: "dup",
	unix.SYS_DUP2: "dup2", unix.SYS_SENDFILE: "sendfile", unix.SYS_FCNTL: "fcntl", unix.SYS_FLOCK: "flock", unix.SYS_TRUNCATE: "truncate", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_GETCWD: "getcwd", unix.SYS_CHDIR: "chdir", unix.SYS_FCHDIR: "fchdir", unix.SYS_RENAME: "rename", unix.SYS_MKDIR: "mkdir", unix.SYS_RMDIR: "rmdir", unix.SYS_LINK: "link",
	unix.SYS_UNLINK: "unlink", unix.SYS_SYMLINK: "symlink", unix.SYS_READLINK: "readlink", unix.SYS_CHMOD: "chmod", unix.SYS_FCHMOD: "fchmod", unix.SYS_CHOWN: "chown",
	unix.SYS_UMASK: "umask", unix.SYS_MKNOD: "mknod", unix.SYS_GETDENTS64: "getdents64", unix.SYS_OPENAT: "openat", unix.SYS_NEWFSTATAT: "newfstatat", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_LINKAT: "linkat", unix.SYS_FALLOCATE: "fallocate", unix.SYS_DUP3: "dup3", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_STATX: "statx", unix.SYS_OPENAT2: "openat2",
	unix.SYS_COPY_FILE_RANGE: "copy_file_range", unix.SYS_UTIMENSAT: "utimensat", unix.SYS_FACCESSAT2: "faccessat2", unix.SYS_CLOSE_RANGE: "close_range",
}

func callName(nr uintptr) string {
	if s := names[nr]; s != "" {
		return s
	}
	return fmt.Sprint("call ", nr)
}
