//go:build amd64

package main

import (
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/core/ready"
	"golang.org/x/sys/unix"
)

// initMachineCalls fills in the hypercalls about the machine, its console and
// its processes.
func initMachineCalls(set func(int, func(*CPU, *Thread))) {
	set(abi.HyperConsoleWrite, hyperConsoleWrite)
	set(abi.HyperConsoleRead, hyperConsoleRead)
	set(abi.HyperConsoleReady, func(c *CPU, t *Thread) { t.AX = addressOf(&consoleInput) })
	set(abi.HyperBootInfo, hyperBootInfo)
	set(abi.HyperCommandLine, hyperCommandLine)
	set(abi.HyperStartInit, hyperStartInit)
	set(abi.HyperProcessInfo, hyperProcessInfo)
	set(abi.HyperProcessList, hyperProcessList)
	set(abi.HyperThreadList, hyperThreadList)
	set(abi.HyperThreadInfo, hyperThreadInfo)
	set(abi.HyperMapList, hyperMapList)
	set(abi.HyperProcessRead, hyperProcessRead)
	set(abi.HyperAccount, hyperAccount)
	set(abi.HyperPower, hyperPower)
	set(abi.HyperSignal, hyperSignal)
	set(abi.HyperLimits, hyperLimits)
	set(abi.HyperCredentials, hyperCredentials)
}

// consoleInput has POLLIN while bytes wait.
var consoleInput Readiness

// consoleReady is called when input begins to wait.
func consoleReady(c *CPU) { post(c, &consoleInput.Object, ready.In, 0) }

func hyperConsoleWrite(c *CPU, t *Thread) {
	for i := range t.SI {
		putc(rd8(t.DI + i))
	}
	t.AX = t.SI
}

func hyperConsoleRead(c *CPU, t *Thread) {
	n := uint64(0)
	for n < t.SI {
		b, ok := consoleGet()
		if !ok {
			break
		}
		wr8(t.DI+n, b)
		n++
	}
	if inputHead == inputTail {
		consoleInput.Bits &^= ready.In
	}
	t.AX = n
}

// answer copies n bytes of an answer to services' memory: a size that they
// ask for less of is their business.
func answer(c *CPU, t *Thread, addr, n uint64, p unsafe.Pointer, size uint64) {
	t.AX = 0
	if !copyOut(c, addr, p, min(n, size)) {
		t.AX = eFAULT
	}
}

func hyperBootInfo(c *CPU, t *Thread) {
	b := abi.BootInfo{
		CPUs: ncpu, Frames: memory.Total(), Realtime: int64(realtimeBase), TSCkHz: tscKHz, DirectMap: directMap,
	}
	if bootInfo.initramfs != 0 {
		b.Initramfs, b.InitramfsSize = directMap+bootInfo.initramfs, bootInfo.initramfsSize
	}
	answer(c, t, t.DI, t.SI, unsafe.Pointer(&b), uint64(unsafe.Sizeof(b)))
}

func hyperCommandLine(c *CPU, t *Thread) {
	n := min(t.SI, cmdlineLen)
	t.AX = cmdlineLen
	if !copyOut(c, t.DI, unsafe.Pointer(&cmdline), n) {
		t.AX = eFAULT
	}
}

// StartInit(object, table, block, n).
func hyperStartInit(c *CPU, t *Thread) {
	w := &startWords
	w.n, w.args, w.values = 0, 0, 0
	n := t.R10
	if n > uint64(len(w.bytes)) {
		t.AX = e2BIG
		return
	}
	// The empty string between the lists is left out.
	length, inArgs := uint64(0), true
	for i := range n {
		var b byte
		if !copyIn(c, unsafe.Pointer(&b), t.DX+i, 1) {
			t.AX = eFAULT
			return
		}
		if b == 0 && length == 0 && inArgs {
			inArgs = false
			continue
		}
		w.bytes[w.n] = b
		w.n++
		length++
		if b == 0 {
			length = 0
			if inArgs {
				w.args++
			} else {
				w.values++
			}
		}
	}
	as := newAddressSpace()
	p := newProcess(c, as, false)
	if as == nil || p == nil {
		t.AX = eNOMEM
		return
	}
	releaseFiles(c, p.files)
	p.files = filesAt(t.SI)
	p.files.references++
	init := startObject(c, as, objectAt(t.DI), userTop-pageSize, 0, w, p)
	started = true
	p.unkillable = true
	nameThread(init, w)
	p.session, p.group = 0, 0
	t.AX = uint64(p.pid)
}

// nameThread names a thread after the program, the last part of the first
// word.
func nameThread(t *Thread, w *words) {
	n := 0
	for i := range w.bytes { // not a range over values, which copies them all
		switch b := w.bytes[i]; {
		case b == 0:
			return
		case b == '/':
			n = 0
			for i := range t.name {
				t.name[i] = 0
			}
		case n < len(t.name)-1:
			t.name[n] = b
			n++
		}
	}
}

// stateLetter is how /proc shows a thread's state.
func stateLetter(t *Thread) uint32 {
	switch t.state {
	case stateRun:
		return 'R'
	case stateStopped:
		return 'T'
	case stateServed, stateSend:
		return 'D'
	case stateDead:
		return 'X'
	}
	return 'S'
}

var processInfo abi.ProcessInfo

// ProcessInfo(pid, address, n).
func hyperProcessInfo(c *CPU, t *Thread) {
	p := findProcess(uint32(t.DI))
	if p == nil || p.first == nil {
		t.AX = eSRCH
		return
	}
	i := &processInfo
	i.PID, i.Parent, i.Group, i.Session = p.pid, p.parent, p.group, p.session
	i.Threads = uint32(p.threads)
	i.State = 'S'
	for o := p.first; o != nil; o = o.groupNext {
		if l := stateLetter(o); l == 'R' || o == p.first {
			i.State = l
		}
	}
	i.UserTime, i.SystemTime = p.split()
	i.StartTime = p.start
	i.MinorFaults = p.faults
	i.Pending = p.pending | p.first.pending
	i.Blocked = p.first.mask
	i.Ignored, i.Caught = 0, 0
	for s := uint64(1); s <= 64; s++ {
		switch h := p.actions[s].handler; {
		case h == sigIgnore:
			i.Ignored |= bit(s)
		case h > sigIgnore:
			i.Caught |= bit(s)
		}
	}
	i.Files = addressOf(p.files)
	for l := range p.limits {
		i.Limits[l][0], i.Limits[l][1] = p.limits[l].Cur, p.limits[l].Max
	}
	copyName(&i.Name, &p.first.name)
	l := &p.layout
	i.StackStart, i.AuxStart, i.AuxEnd = l.stack, l.auxStart, l.auxEnd
	i.ArgStart, i.EnvEnd = l.words, l.wordsEnd
	i.ArgEnd, i.EnvStart = l.argsEnd, l.argsEnd
	if p.as != nil {
		spaceInfo(p.as, i)
	}
	answer(c, t, t.SI, t.DX, unsafe.Pointer(i), uint64(unsafe.Sizeof(*i)))
}

// ProcessList(after, address, n).
func hyperProcessList(c *CPU, t *Thread) {
	after, stored := uint32(t.DI), uint64(0)
	for (stored+1)*4 <= t.DX {
		next := ^uint32(0)
		for p := processes; p != nil; p = p.next {
			if p.pid > after && p.pid < next && p.pid != 0 {
				next = p.pid
			}
		}
		if next == ^uint32(0) {
			break
		}
		if !write32(c, t.SI+stored*4, next) {
			t.AX = eFAULT
			return
		}
		after = next
		stored++
	}
	t.AX = stored
}

// ThreadList(pid, after, address, n).
func hyperThreadList(c *CPU, t *Thread) {
	p := findProcess(uint32(t.DI))
	if p == nil {
		t.AX = eSRCH
		return
	}
	after, stored := uint32(t.SI), uint64(0)
	for o := p.first; o != nil && (stored+1)*4 <= t.R10; o = o.groupNext { // in rising order
		if o.TID <= after {
			continue
		}
		if !write32(c, t.DX+stored*4, o.TID) {
			t.AX = eFAULT
			return
		}
		stored++
	}
	t.AX = stored
}

// ThreadInfo(tid, address, n).
func hyperThreadInfo(c *CPU, t *Thread) {
	o := findThread(uint32(t.DI))
	if o == nil || o.ring0() {
		t.AX = eSRCH
		return
	}
	i := abi.ThreadInfo{
		TID: o.TID, PID: o.PID, State: stateLetter(o), CPU: uint32(o.cpu.number),
		Switches: o.switches, Preempted: o.preempted, Pending: o.pending, Blocked: o.mask,
		Nice: int32(o.sched.Nice), Policy: int32(o.sched.Policy),
	}
	i.UserTime, i.SystemTime = o.split()
	copyName(&i.Name, &o.name)
	answer(c, t, t.SI, t.DX, unsafe.Pointer(&i), uint64(unsafe.Sizeof(i)))
}

// MapList(pid, from, address, n).
func hyperMapList(c *CPU, t *Thread) {
	p := findProcess(uint32(t.DI))
	if p == nil || p.as == nil {
		t.AX = eSRCH
		return
	}
	t.AX = mapList(c, p.as, t.SI, t.DX, t.R10/uint64(unsafe.Sizeof(abi.Map{})))
}

// ProcessRead(pid, offset, address, n).
func hyperProcessRead(c *CPU, t *Thread) {
	p := findProcess(uint32(t.DI))
	if p == nil || p.as == nil {
		t.AX = eSRCH
		return
	}
	done := uint64(0)
	for n := min(t.R10, abi.MaxStep); done < n; {
		at := t.SI + done
		if at >= userTop {
			break
		}
		a := p.as.pageFor(c, at, false)
		if a == 0 {
			break
		}
		k := min(n-done, pageSize-at&(pageSize-1))
		if !copyOut(c, t.DX+done, ptr(a), k) {
			break
		}
		done += k
	}
	t.AX = done
	if done == 0 && t.R10 != 0 {
		t.AX = eFAULT
	}
}

// Power(how).
func hyperPower(c *CPU, t *Thread) {
	switch uint32(t.DI) {
	case 0, unix.LINUX_REBOOT_CMD_CAD_ON:
		t.AX = 0
	default:
		exitSystem(0)
	}
}

// Signal(pid, signal).
func hyperSignal(c *CPU, t *Thread) {
	id, sig := int32(t.DI), t.SI
	t.AX = eSRCH
	for p := processes; p != nil; p = p.next {
		if id > 0 && p.pid == uint32(id) || id < 0 && p.group == uint32(-id) {
			t.AX = send(c, p, nil, sig, siKern, nil)
		}
	}
}

// spaceInfo fills in what a process's memory is.
func spaceInfo(as *AddressSpace, i *abi.ProcessInfo) {
	u := as.Usage()
	i.Resident = u.Resident
	i.BreakStart, i.Break = as.BreakRange()
}
