package abi

// Calls by which services take work. Ring 0 only, like every hypercall.
const (
	// Receive(action) → the address of a Request, or 0: the handler replies
	// to the request that it holds as action says, then waits for the next
	// one. It returns 0 when a signal for the handler's own thread came in
	// (the runtime wants to preempt it): the caller then lets its runtime run
	// (runtime.Gosched) and calls again with ReplyNone. A thread becomes a
	// handler with its first Receive.
	HyperReceive = 0x1000
	// ReceiveEntry() → an address in core that a handler may CALL instead of
	// the system call Receive: DI holds the action, AX the result; like any Go
	// function it keeps only SP, BP and R14. Interrupts must be on.
	HyperReceiveEntry = 0x1001
	// FixupRange(lo, hi, pad): a page fault on a user's address that core
	// cannot resolve, with IP in [lo, hi), resumes at pad. Services' copy
	// between user and kernel memory is that range.
	HyperFixupRange = 0x1002
)

// What a handler does with the request that it holds, the argument of Receive.
const (
	// ReplyNone: it holds none.
	ReplyNone = 0
	// ReplyResult: the call is over; Request.Result is what it returns.
	ReplyResult = 1
	// ReplyWait: the call cannot be answered yet. Core parks the caller until
	// an object of bits Request.WaitBits is ready, Request.Deadline has
	// passed, or a signal comes, and the handler is free. In the first two
	// cases the request is forwarded again, to any handler, with Retry one
	// higher and Ready set. A signal cancels it: the call returns Cancelled
	// if that is not 0, else EINTR, or it is started afresh (Retry 0) where
	// the signal's action has SA_RESTART.
	ReplyWait = 2
	// ReplyWaitNoRestart is ReplyWait, but a signal's handler that ran always
	// makes it EINTR (signal(7) lists those calls).
	ReplyWaitNoRestart = 3
)

// Events are requests that core itself makes; Request.AX holds the number,
// which no program can pass (core answers unknown numbers itself).
const (
	// EventExit: the last thread of process PID is gone: release what it held
	// (descriptors, locks). DI is the wait status. The result is ignored.
	EventExit = 0x2000
)

// Request is a thread as services see it: a call that core forwarded. It is
// the head of core's thread, handed over by address; the handler that received
// it has it to itself until it replies.
//
// Registers are the caller's at the call: AX the number, DI, SI, DX, R10, R8,
// R9 the arguments. A handler does not change them.
type Request struct {
	Frame

	// Filled by core.

	TID, PID uint32
	// Process is services' own word of the process, kept by core from
	// StartInit on; 0 at first. Files is its descriptor table.
	Process, Files uint64
	// Retry counts how often this call was parked.
	Retry uint32
	// Ready holds the bits that ended the last wait, 0 when it was Deadline.
	Ready uint32

	// Filled by the handler.

	// Result is what the call returns: a value or a negative errno value.
	Result int64
	// WaitObject is the handle of a readiness object, or 0 to wait for
	// Deadline alone; WaitBits are poll(2) bits (POLLERR and POLLHUP always
	// count).
	WaitObject uint64
	WaitBits   uint32
	_          uint32
	// Deadline is in ns of CLOCK_MONOTONIC; 0: none.
	Deadline int64
	// Cancelled is what the call returns when a signal cancels its wait: the
	// bytes moved so far, say. 0: EINTR or a restart.
	Cancelled int64
	// State is the handler's, kept from one parking to the next; zero when
	// Retry is 0.
	State [4]uint64
}

// RequestSize is the size of a Request in bytes.
const RequestSize = 280
