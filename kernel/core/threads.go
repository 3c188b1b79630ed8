//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// idleProcess holds the threads that run when no other can.
var idleProcess *Process

// initThreads prepares what threads and their calls need, once memory and time
// are there.
func initThreads(c *CPU) {
	signals.Init(&memory)
	readinesses.Init(&memory)
	posixTimers.Init(&memory)
	fileSlab.Init(&memory)
	pipeSlab.Init(&memory)
	epollItems.Init(&memory)
	initSyscalls()
	initHypercalls()
	initVector(c)
	initCPUNumber(c)
	initTracing()
	initVDSO()
	idleProcess = newProcess(c, nil, true)
	servicesProcess = newProcess(c, servicesSpace, true)
	if idleProcess == nil || servicesProcess == nil {
		die("no memory")
	}
	processes = nil // neither is anybody's to see
	initFiles(c, servicesProcess.files)
}

func tracedEntry() uint64

// initTracing makes this processor's system calls enter where they are
// printed, if strace=1 is on the command line.
func initTracing() {
	if traceSys || accountAll {
		x86.Wrmsr(msrLSTAR, tracedEntry())
	}
}
