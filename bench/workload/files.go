package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var fileWorkloads = []workload{
	{"pread", "ns", "one pread(2) of 4 KiB of a file in the page cache", func(n int, sample func(float64)) error {
		return withFile(4*pageSize, func(fd int) error {
			buf := make([]byte, pageSize)
			return timeCalls(n, sample, func() unix.Errno {
				_, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), address(buf), pageSize, pageSize, 0, 0)
				return errno
			})
		})
	}},
	{"fstat", "ns", "one fstat(2) of a regular file", func(n int, sample func(float64)) error {
		return withFile(pageSize, func(fd int) error {
			var st unix.Stat_t
			return timeCalls(n, sample, func() unix.Errno {
				_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&st)), 0)
				return errno
			})
		})
	}},
	{"open", "ns", "one openat(2) and close(2) of a file three folders deep", func(n int, sample func(float64)) error {
		return withFile(pageSize, func(fd int) error {
			path, err := unix.BytePtrFromString(filepath.Join(workFolder, "a", "b", "file"))
			if err != nil {
				return err
			}
			folder := unix.AT_FDCWD
			return timeCalls(n, sample, func() unix.Errno {
				fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(folder), uintptr(unsafe.Pointer(path)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
				if errno != 0 {
					return errno
				}
				_, _, errno = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
				return errno
			})
		})
	}},
	{"file-map", "us/MiB", "map a cached file of 16 MiB and read one byte of each page", func(n int, sample func(float64)) error {
		const size = 16 * mib
		return withFile(size, func(fd int) error {
			for range n {
				start := time.Now()
				data, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
				if err != nil {
					return err
				}
				for i := 0; i < size; i += pageSize {
					sink += uint64(data[i])
				}
				sample(usPerMiB(time.Since(start), size))
				if err := unix.Munmap(data); err != nil {
					return err
				}
			}
			return nil
		})
	}},
}

// workFolder is made and removed by each workload that needs files. It lies
// in the folder for temporary files, a memory file system on the kernels compared.
var workFolder = filepath.Join(os.TempDir(), "leveret-workload")

// withFile calls f with a file of size bytes, opened for reading, whose pages
// are in memory.
func withFile(size int, f func(fd int) error) error {
	folder := filepath.Join(workFolder, "a", "b")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(workFolder)
	path := filepath.Join(folder, "file")
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	return f(fd)
}
