package programs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// utimes sets the times of a file, or of a symbolic link itself.
func utimes(path string, to []syscall.Timespec) error {
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{unix.Timespec(to[0]), unix.Timespec(to[1])}, unix.AT_SYMLINK_NOFOLLOW)
}
