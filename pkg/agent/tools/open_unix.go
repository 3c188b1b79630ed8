//go:build unix

package tools

import "syscall"

// openFlags keep open from waiting for a pipe's other end, and from taking a
// terminal as this process's own, if a special file is put in the place of a
// regular one between looking and opening.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
