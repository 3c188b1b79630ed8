//go:build amd64

package main

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
	initVDSO()
	idleProcess = newProcess(c, nil, true)
	servicesProcess = newProcess(c, servicesSpace, true)
	if idleProcess == nil || servicesProcess == nil {
		die("no memory")
	}
	processes = nil // neither is anybody's to see
	initFiles(c, servicesProcess.files)
}
