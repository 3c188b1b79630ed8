//go:build amd64

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/hyper"
	"github.com/leveret-os/leveret/kernel/services/ring0"
)

// handle takes requests for ever, on a thread of its own.
func handle(k *calls.Kernel) {
	runtime.LockOSThread()
	h := &handler{k: k, c: &calls.Call{K: k, Mem: ring0.User{}}, faulty: faultyCall()}
	action := uint64(abi.ReplyNone)
	kicked := false
	for {
		var addr uint64
		// After a kick wait in a way that frees the P, so that the runtime's
		// monitor can sleep; the cheap wait comes back with the next request.
		if kicked {
			addr = ring0.ReceiveIdle(action)
		} else {
			addr = ring0.Receive(action)
		}
		action = abi.ReplyNone
		if addr == 0 {
			kicked = true
			runtime.Gosched()
			continue
		}
		kicked = false
		action = h.serve(ring0.Request(addr))
	}
}

type handler struct {
	k    *calls.Kernel
	c    *calls.Call
	last *calls.Process // of the request before

	faulty uint64 // the call that faults, for a test; 0: none
}

// faultyCall is N of the word leveret.fault=N: services fault when they serve
// the call of that number, so that a test sees what comes of it.
func faultyCall() uint64 {
	for _, w := range hyper.Split(hyper.CommandLine()) {
		if w == "--" {
			break
		}
		if number, ok := strings.CutPrefix(w, "leveret.fault="); ok {
			n, _ := strconv.ParseUint(number, 10, 32)
			return n
		}
	}
	return 0
}

// serve runs one request. A panic ends that call alone, with EIO, and a line
// on the console; the locks were released as the panic went by.
func (h *handler) serve(r *abi.Request) (action uint64) {
	defer func() {
		if p := recover(); p != nil {
			say(fmt.Sprintf("call %d of process %d: panic: %v\n%s", r.AX, r.PID, p, debug.Stack()))
			r.Result = -int64(unix.EIO)
			action = abi.ReplyResult
		}
	}()
	if r.AX == abi.EventExit {
		h.last = nil
		if r.PID == 1 {
			exportFiles(h.k)
		}
		h.k.Exit(r.PID)
		r.Result = 0
		return abi.ReplyResult
	}
	p := h.last
	if p == nil || p.PID != r.PID {
		if p = h.k.ByPID(r.PID); p == nil {
			r.Result = -int64(unix.ESRCH)
			return abi.ReplyResult
		}
		h.last = p
	}
	if h.faulty != 0 && r.AX == h.faulty {
		var nowhere *abi.Request
		nowhere.Result = 0
	}
	if waits, _ := h.c.Serve(r, p); waits {
		return abi.ReplyWait
	}
	return abi.ReplyResult
}
