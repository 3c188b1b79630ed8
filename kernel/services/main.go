//go:build amd64

// Command services is the half of the kernel that is ordinary Go: it serves
// the system calls that core does not serve itself. Core runs it in ring 0,
// in every address space; its runtime's own system calls are served by core.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/hyper"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/system"
)

// handlers is how many threads take requests. None blocks, so that more than
// there are processors serve only while the collector runs.
const handlers = 4

func main() {
	var boot abi.BootInfo
	ring0.Fill(abi.HyperBootInfo, &boot)
	ring0.Setup()
	limitHeap(int64(boot.Frames) << 12)
	// The runtime makes its poller with its first timer, and ends when it
	// cannot: better now than when programs have taken what there is.
	time.AfterFunc(time.Hour, func() {}).Stop()
	machine := &hyper.Machine{Files: true}
	var archive []byte
	if boot.InitramfsSize != 0 {
		archive = ring0.View(boot.Initramfs, boot.InitramfsSize)
	}
	k, err := system.New(system.Options{
		Machine: machine, Store: hyper.Store{}, Line: hyper.NewConsole(), Archive: archive, CommandLine: hyper.CommandLine(),
		CPUs: int(boot.CPUs), Memory: int64(boot.Frames) << 12, Now: now, SetHuge: hyper.SetHuge,
	})
	if err != nil {
		say(err.Error())
	}
	k.LockWait, k.NS.Unlocked = hyper.NewNotice()
	for range handlers {
		go handle(k)
	}
	if err := hyper.StartInit(k); err != nil {
		say(err.Error())
		os.Exit(1)
	}
	select {}
}

// limitHeap lets services' heap be a good part of the machine's memory, with
// few collections while it is small.
func limitHeap(memory int64) {
	debug.SetGCPercent(300)
	debug.SetMemoryLimit(memory / 4)
}

func now() int64 { return time.Now().UnixNano() }

// say writes a line to the console; it begins as all lines of the kernel do.
func say(s string) {
	os.Stderr.WriteString("services: " + s + "\n")
}

var _ calls.Machine = (*hyper.Machine)(nil)
