//go:build amd64

package main

import "golang.org/x/sys/unix"

// Results of system calls that fail: negative errno values in AX.
const (
	ePERM           = ^uint64(unix.EPERM) + 1
	eNOENT          = ^uint64(unix.ENOENT) + 1
	eSRCH           = ^uint64(unix.ESRCH) + 1
	eINTR           = ^uint64(unix.EINTR) + 1
	eIO             = ^uint64(unix.EIO) + 1
	e2BIG           = ^uint64(unix.E2BIG) + 1
	eBADF           = ^uint64(unix.EBADF) + 1
	eAGAIN          = ^uint64(unix.EAGAIN) + 1
	eNOMEM          = ^uint64(unix.ENOMEM) + 1
	eACCES          = ^uint64(unix.EACCES) + 1
	eFAULT          = ^uint64(unix.EFAULT) + 1
	eBUSY           = ^uint64(unix.EBUSY) + 1
	eEXIST          = ^uint64(unix.EEXIST) + 1
	eNOTDIR         = ^uint64(unix.ENOTDIR) + 1
	eINVAL          = ^uint64(unix.EINVAL) + 1
	eMFILE          = ^uint64(unix.EMFILE) + 1
	eNOTTY          = ^uint64(unix.ENOTTY) + 1
	eSPIPE          = ^uint64(unix.ESPIPE) + 1
	eROFS           = ^uint64(unix.EROFS) + 1
	ePIPE           = ^uint64(unix.EPIPE) + 1
	eRANGE          = ^uint64(unix.ERANGE) + 1
	eNOSYS          = ^uint64(unix.ENOSYS) + 1
	eLOOP           = ^uint64(unix.ELOOP) + 1
	eOVERFLOW       = ^uint64(unix.EOVERFLOW) + 1
	eOPNOTSUPP      = ^uint64(unix.EOPNOTSUPP) + 1
	eTIMEDOUT       = ^uint64(unix.ETIMEDOUT) + 1
	eCANCELED       = ^uint64(unix.ECANCELED) + 1
	eNOTRECOVERABLE = ^uint64(unix.ENOTRECOVERABLE) + 1
	eFBIG           = ^uint64(unix.EFBIG) + 1
	eNOSPC          = ^uint64(unix.ENOSPC) + 1
	eNXIO           = ^uint64(unix.ENXIO) + 1
	eDEADLK         = ^uint64(unix.EDEADLK) + 1
)

// Results that the exit path turns into EINTR or a new start of the call,
// never seen by a program (Linux's include/linux/errno.h).
const (
	// eRESTARTSYS: started afresh if no handler ran or it has SA_RESTART.
	eRESTARTSYS = ^uint64(512) + 1
	// eRESTARTNOINTR: always started afresh.
	eRESTARTNOINTR = ^uint64(513) + 1
	// eRESTARTNOHAND: started afresh only if no handler ran.
	eRESTARTNOHAND = ^uint64(514) + 1
	// eRESTARTBLOCK: gone on with by restart_syscall if no handler ran.
	eRESTARTBLOCK = ^uint64(516) + 1
)

// failed tells whether a system call's result is an errno value.
func failed(r uint64) bool { return r > ^uint64(4095) }
