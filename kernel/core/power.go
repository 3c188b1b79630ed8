//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// Values for QEMU's isa-debug-exit device. QEMU's own exit status is twice the
// value plus one; kernel/machine names the same.
const (
	endClean    = 16 // 33: init ended with status 0
	endStatus   = 17 // 35: init ended with another status
	endSignal   = 18 // 37: a signal ended init
	endCrash    = 19 // 39: core crashed
	endServices = 20 // 41: services ended
	endBoot     = 21 // 43: init was never started

	debugExitPort = 0xf4
)

// started is set when init begins: a fatal error before that is one of
// booting.
var started bool

// exitSystem ends the run with init's exit status.
func exitSystem(status uint64) {
	status &= 0xff
	end(status, 0)
}

// exitSignal ends the run by the signal that ended init.
func exitSignal(signal uint64) { end(128+signal, signal) }

func end(status, signal uint64) {
	if selftest {
		checkPages() // with what services mapped since
	}
	puts("EXIT status=")
	putdec(status)
	if signal != 0 {
		puts(" signal=")
		putdec(signal)
	}
	puts("\n")
	switch {
	case signal != 0:
		poweroff(endSignal)
	case status != 0:
		poweroff(endStatus)
	}
	poweroff(endClean)
}

// servicesEnded ends the run when services did; before init starts, because
// they could not start it.
func servicesEnded() {
	puts("\n*** services have ended\n")
	if !started {
		poweroff(endBoot)
	}
	poweroff(endServices)
}

// die ends the run when core cannot go on.
func die(s string) {
	puts("\n*** core: ")
	puts(s)
	puts("\n")
	if !started {
		poweroff(endBoot)
	}
	backtraceHere()
	poweroff(endCrash)
}

// poweroff leaves the machine: by the debug-exit device, which takes code, or
// by ACPI, or by the keyboard controller's reset, which QEMU ends at with
// -no-reboot.
func poweroff(code uint32) {
	drainConsole()
	x86.Outl(debugExitPort, code)
	x86.Outw(0x604, 0x2000)
	x86.Outb(0x64, 0xfe)
	x86.Halt()
}
