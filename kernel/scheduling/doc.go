// Package scheduling holds, as a test, how the kernel shares a processor:
// equal and weighted shares, preemption by real-time threads, round robin, and
// how late a thread wakes beside others that compute or make long calls.
//
// Time is the number of instructions, so that the figures repeat on a busy
// host; `go test -v` prints them.
package scheduling
