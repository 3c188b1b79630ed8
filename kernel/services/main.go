//go:build amd64

// Command services is the half of the kernel that is ordinary Go.
package main

import "syscall"

func main() {
	startServing()
	syscall.RawSyscall(0x1003, 0, 0, 0)
	select {}
}
