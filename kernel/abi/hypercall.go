package abi

// Hypercalls are what services ask of core: system calls with numbers from
// HypercallFirst up, served in ring 0 only (ENOSYS from ring 3). Arguments
// travel in the registers of any system call (DI, SI, DX, R10, R8, R9), the
// results in AX (a negative errno value when the call failed) and DX.
//
// A handle is the direct-map address of the head that core's object begins
// with (ObjectHead, FileHead), so that services read sizes, times and offsets
// with one load and no call. Core trusts a handle: services never take one
// from a user.
//
// An address argument is a user's (below the canonical hole, in the address
// space of the request that the calling handler serves) or one of services'
// own. Core does at most MaxStep bytes of work a call and returns a short
// count; the caller goes on with the rest.
const (
	HypercallFirst = 0x1000

	// Memory objects.

	// ObjectCreate(ino) → handle: an empty object of size 0 with one
	// reference. ENOMEM.
	HyperObjectCreate = 0x1100
	// ObjectInPlace(address, size, ino) → handle: an object over a stretch of
	// the initramfs (a direct-map address, any alignment), whose frames core
	// does not own. A write, or a page that a mapping dirties, copies the
	// page first. ENOMEM.
	HyperObjectInPlace = 0x1101
	// ObjectRetain(object), ObjectRelease(object): the last release frees the
	// frames.
	HyperObjectRetain  = 0x1102
	HyperObjectRelease = 0x1103
	// ObjectRead(object, offset, address, n) → bytes copied, 0 at the end of
	// the object. EFAULT when the first byte faults, else the bytes before
	// the fault. Holes read as zero and allocate nothing.
	HyperObjectRead = 0x1104
	// ObjectWrite(object, offset, address, n) → bytes copied; grows Size.
	// EFAULT; ENOSPC when no frame is left or MaxPages is reached.
	HyperObjectWrite = 0x1105
	// ObjectResize(object, size): cuts (frees whole pages beyond the end,
	// clears the rest of the last page, and takes them out of mappings) or
	// grows with a hole. EAGAIN: a step is done, call again.
	HyperObjectResize = 0x1106
	// ObjectPunch(object, offset, n): makes a hole; partial pages are
	// cleared. Size stays. EAGAIN as above.
	HyperObjectPunch = 0x1107
	// ObjectAllocate(object, offset, n): frames for the range; Size stays.
	// ENOSPC; EAGAIN as above.
	HyperObjectAllocate = 0x1108
	// ObjectSeek(object, offset, whence) → the next data (unix.SEEK_DATA) or
	// hole (unix.SEEK_HOLE) at or after offset. ENXIO beyond the end.
	HyperObjectSeek = 0x1109
	// ObjectCopy(to, toOffset, from, fromOffset, n) → bytes.
	HyperObjectCopy = 0x110a
	// ObjectPin(object, page) → the direct-map address of the page, which is
	// allocated when absent and stays until the object is cut. ENOSPC.
	HyperObjectPin = 0x110b

	// Open files and descriptors.

	// FilesCreate() → table: an empty descriptor table of core.
	HyperFilesCreate  = 0x1120
	HyperFilesRelease = 0x1121
	// FileCreate(kind, object, flags, tag) → file: what core keeps of an open
	// file description; object is a memory object (KindObject), a readiness
	// object (KindReady), or 0. flags are open(2)'s.
	HyperFileCreate = 0x1122
	// FileRelease(file): services drop their reference. The last reference
	// (services', descriptors, parked calls) closes it.
	HyperFileRelease = 0x1123
	// DescriptorInstall(table, fd, file), DescriptorRemove(table, fd).
	// Install replaces what was there. ENOMEM.
	HyperDescriptorInstall = 0x1124
	HyperDescriptorRemove  = 0x1125
	// PipeCreate(flags) → AX the reading file, DX the writing one. ENOMEM.
	HyperPipeCreate = 0x1126
	// PipeEnd(file, flags) → another end of the pipe that file is an end of,
	// for what the access mode in flags says. EINVAL, ENOMEM.
	HyperPipeEnd = 0x112d
	// EventfdCreate(count, flags), TimerfdCreate(clock, flags),
	// EpollCreate(flags) → file.
	HyperEventfdCreate = 0x1127
	HyperTimerfdCreate = 0x1128
	HyperEpollCreate   = 0x1129
	// FileControl(file, command, argument): F_GETPIPE_SZ, F_SETPIPE_SZ,
	// FIONREAD of a pipe and the like; EINVAL where the kind has no such
	// thing.
	HyperFileControl = 0x112a
	// FileRead(file, address, n, flags), FileWrite(file, address, n, flags):
	// of a pipe, eventfd or timerfd, for the calls that core forwards (readv,
	// splice, sendfile). EAGAIN when it would block.
	HyperFileRead  = 0x112b
	HyperFileWrite = 0x112c

	// Readiness.

	// ReadyCreate(bits) → object with these poll bits. ENOMEM.
	HyperReadyCreate = 0x1140
	// ReadyPost(object, set, clear): changes bits and wakes who waits.
	HyperReadyPost = 0x1141
	// ReadyRelease(object).
	HyperReadyRelease = 0x1142

	// Console.

	// ConsoleWrite(address, n) → n: raw bytes to the console.
	HyperConsoleWrite = 0x1150
	// ConsoleRead(address, n) → raw bytes that came in, 0 when there are none.
	HyperConsoleRead = 0x1151
	// ConsoleReady() → the readiness object that has POLLIN while raw input
	// waits.
	HyperConsoleReady = 0x1152

	// The machine and its processes.

	// BootInfo(address, n): fills a BootInfo.
	HyperBootInfo = 0x1160
	// CommandLine(address, n) → length: the kernel's command line.
	HyperCommandLine = 0x1161
	// StartInit(object, table, block, n): starts the first process from the
	// ELF file in object with the arguments and environment of block: for
	// each its bytes and a NUL, the two lists separated by an empty string.
	HyperStartInit = 0x1162
	// MemoryInfo(address, n): fills a MemoryInfo.
	HyperMemoryInfo = 0x1163
	// ProcessInfo(pid, address, n): fills a ProcessInfo. ESRCH.
	HyperProcessInfo = 0x1164
	// ProcessList(after, address, n) → how many uint32 process ids above
	// after were stored, in rising order.
	HyperProcessList = 0x1165
	// ThreadList(pid, after, address, n): the same of thread ids. ESRCH.
	HyperThreadList = 0x1166
	// MapList(pid, from, address, n) → how many Map were stored, of the
	// mappings that end above from. ESRCH.
	HyperMapList = 0x1167
	// ThreadInfo(tid, address, n): fills a ThreadInfo. ESRCH.
	HyperThreadInfo = 0x1168
	// ProcessRead(pid, offset, address, n) → bytes of that process's memory.
	HyperProcessRead = 0x1169
	// Account(what, address, n) → length: the text of /proc/leveret/….
	HyperAccount = 0x116a
	// Power(how): unix.LINUX_REBOOT_CMD_*; does not return.
	HyperPower = 0x116b
	// Signal(pid, signal): to a process, or to the group -pid. ESRCH.
	HyperSignal = 0x116c
	// Limits(pid) → the address of the process's resource limits, 16 pairs of
	// soft and hard ones (struct rlimit), which lie there until its EventExit
	// is answered. ESRCH.
	HyperLimits = 0x116e
	// Credentials(pid, address, n): a process's user and group ids are now those
	// of a Credentials. ESRCH.
	HyperCredentials = 0x116f
	// HugePages(mode): how anonymous memory gets 2 MiB pages: 0 never, 1 where
	// madvise(2) asked for them, 2 always. EINVAL.
	HyperHugePages = 0x116d
)

// What Account tells.
const (
	AccountAll = iota
	AccountFaults
	AccountSyscalls
	AccountTimes
	AccountMemory
)

// MaxStep is the most bytes that one hypercall copies, frees or allocates.
const MaxStep = 64 << 12

// Kinds of open file, as core serves them.
const (
	KindOther   = iota // services serve every call; always ready
	KindObject         // bytes of a memory object
	KindReady          // services serve the calls; readiness is an object's
	KindPipe           // either end
	KindEventfd        // a counter
	KindTimerfd        // a timer
	KindEpoll          // a set of files
	KindPath           // O_PATH: only fstat, close, dup and *at
)

// ObjectHead begins every memory object. Core writes Size, Pages, References
// and Writers under its lock; services read them with atomic loads and own
// the rest, which core reads for the calls that it serves alone (fstat).
type ObjectHead struct {
	Size       uint64 // bytes
	Pages      uint64 // 4 KiB frames that the object owns
	References uint64
	Writers    uint64 // shared writable mappings
	MaxPages   uint64 // core refuses to own more; 0: no limit
	Atime      int64  // ns since 1970; core sets Mtime and Ctime when it writes
	Mtime      int64
	Ctime      int64
	Dev        uint64 // st_dev
	Ino        uint64 // st_ino
	Nlink      uint64
	Mode       uint32 // type and permissions
	UID, GID   uint32
	Seals      uint32 // F_SEAL_*: core refuses writes and resizes
}

// FileHead begins what core keeps of an open file description.
type FileHead struct {
	Offset     int64  // bytes; shared by all descriptors
	Flags      uint32 // open(2)'s: access mode, O_APPEND, O_NONBLOCK, …
	Kind       uint32
	References uint64
	Object     uint64 // handle of the memory or readiness object, or 0
	Tag        uint64 // services' own
	NoFast     uint32 // not 0: forward reads and writes (locks, watches)
	_          uint32
}

// BootInfo is what services need to know of the machine.
type BootInfo struct {
	Initramfs     uint64 // direct-map address, or 0
	InitramfsSize uint64 // bytes
	CPUs          uint64 // that run
	Frames        uint64 // 4 KiB frames of usable memory
	Realtime      int64  // ns since 1970 at monotonic 0
	TSCkHz        uint64
	DirectMap     uint64 // where physical address 0 lies
}

// MemoryInfo is what /proc/meminfo and sysinfo(2) tell, in bytes.
type MemoryInfo struct {
	Total, Free, Anonymous, Objects, PageTables, Kernel, Services, Huge uint64
}

// ProcessInfo is what /proc/PID/stat and status tell of a process.
type ProcessInfo struct {
	PID, Parent, Group, Session           uint32
	Threads                               uint32
	State                                 uint32 // 'R', 'S', 'Z', …
	UserTime, SystemTime, StartTime       uint64 // ns
	MinorFaults, MajorFaults              uint64
	Virtual, Resident, Shared, Locked     uint64 // bytes
	PeakResident                          uint64
	CodeStart, CodeEnd, StackStart        uint64
	DataStart, DataEnd, BreakStart, Break uint64
	ArgStart, ArgEnd, EnvStart, EnvEnd    uint64
	AuxStart, AuxEnd                      uint64
	Pending, Blocked, Ignored, Caught     uint64
	Files                                 uint64 // descriptor table
	Exe                                   uint64 // memory object of the program
	Limits                                [16][2]uint64
	Name                                  [16]byte
}

// Credentials are the ids of a process. Core answers getuid(2) and its kin
// from them, names the sender of a signal by them, and holds EUID 0 to have
// all capabilities and any other to have none.
type Credentials struct {
	UID, EUID, SUID, FSUID uint32
	GID, EGID, SGID, FSGID uint32
}

// ThreadInfo is what /proc/PID/task/TID tells beyond the process's.
type ThreadInfo struct {
	TID, PID             uint32
	State                uint32
	CPU                  uint32
	UserTime, SystemTime uint64 // ns
	Switches, Preempted  uint64
	Pending, Blocked     uint64
	Nice, Policy         int32
	Name                 [16]byte
}

// Map is one mapping of a process.
type Map struct {
	Start, End uint64
	Offset     uint64 // in the object, bytes
	Object     uint64 // handle, or 0: anonymous
	Ino        uint64 // the object's
	Prot       uint32 // PROT_*
	Flags      uint32 // MAP_SHARED, MAP_GROWSDOWN, MAP_LOCKED
	Resident   uint64 // bytes
	Kind       uint32 // MapPlain, MapStack, …
	_          uint32
}

// What a mapping is, for its name in /proc/PID/maps.
const (
	MapPlain = iota
	MapStack
	MapHeap
	MapVDSO
	MapVvar
)
