//go:build amd64

package main

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/hyper"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/system"
)

// What the first core serves, which knows neither objects nor requests: a
// handler gets the address of the caller's registers. This file goes when
// core has the calls of package abi.

type oldLine struct{}

func (oldLine) Send(p []byte)            { ring0.Hyper(0x1004, ring0.Address(p), uint64(len(p))) }
func (oldLine) Receive([]byte) int       { return 0 }
func (oldLine) Ready() (uint64, uint32)  { return 0, unix.POLLIN }
func (oldLine) Signal(pgrp int32, s int) {}

func mainOnSkeleton() {
	ring0.SetupSkeleton()
	at, size := ring0.SkeletonInitramfs()
	k, err := system.New(system.Options{Machine: &hyper.Machine{}, Store: new(object.Heap), Line: oldLine{}, Archive: ring0.View(at, size), CPUs: 1, Memory: 512 << 20, Now: now})
	if err != nil {
		say(err.Error())
	}
	p, err := system.Init(k, "/init")
	if err != nil {
		say(err.Error())
		os.Exit(1)
	}
	for range handlers {
		go func() {
			runtime.LockOSThread()
			h := &handler{k: k, c: &calls.Call{K: k, Mem: ring0.User{}}, last: p}
			var reply uint64
			var r abi.Request
			for kicked := false; ; {
				var addr uint64
				if kicked {
					a, _, _ := syscall.Syscall(0x1000, uintptr(reply), 0, 0)
					addr = uint64(a)
				} else {
					addr = ring0.Receive(reply)
				}
				reply = 0
				if kicked = addr == 0; kicked {
					runtime.Gosched()
					continue
				}
				r = abi.Request{Frame: ring0.Request(addr).Frame, PID: 1, TID: 1}
				if h.serve(&r) == abi.ReplyWait {
					r.Result = -int64(unix.EAGAIN)
				}
				reply = uint64(r.Result)
			}
		}()
	}
	syscall.RawSyscall(0x1003, 0, 0, 0)
	select {}
}
