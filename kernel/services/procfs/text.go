package procfs

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
)

// ticks turns ns into USER_HZ, a hundredth of a second.
func ticks(ns uint64) uint64 { return ns / 1e7 }

// statText is /proc/PID/stat, 52 fields (proc_pid_stat(5)).
func (p *process) statText() []byte {
	i := p.info()
	id, state, threads := i.PID, byte(i.State), i.Threads
	user, system := i.UserTime, i.SystemTime
	nice, processor := int32(0), uint32(0)
	if p.thread {
		var t abi.ThreadInfo
		if p.m.Thread(p.tid, &t) == 0 {
			id, state, user, system, nice, processor = t.TID, byte(t.State), t.UserTime, t.SystemTime, t.Nice, t.CPU
		}
	}
	if state == 0 {
		state = 'R'
	}
	return fmt.Appendf(nil, "%d (%s) %c %d %d %d 0 -1 4194304 %d 0 %d 0 %d %d 0 0 %d %d %d 0 %d %d %d %d %d %d %d 0 0 %d %d %d %d 0 0 0 17 %d 0 0 0 0 0 %d %d %d %d %d %d %d 0\n",
		id, p.name(), state, i.Parent, i.Group, i.Session, i.MinorFaults, i.MajorFaults, ticks(user), ticks(system), 20+nice, nice, threads, ticks(i.StartTime), i.Virtual, i.Resident>>12,
		i.Limits[unix.RLIMIT_RSS][0], i.CodeStart, i.CodeEnd, i.StackStart, i.Pending, i.Blocked, i.Ignored, i.Caught, processor,
		i.DataStart, i.DataEnd, i.BreakStart, i.ArgStart, i.ArgEnd, i.EnvStart, i.EnvEnd)
}

func (p *process) statmText() []byte {
	i := p.info()
	return fmt.Appendf(nil, "%d %d %d %d 0 %d 0\n", i.Virtual>>12, i.Resident>>12, i.Shared>>12, (i.CodeEnd-i.CodeStart+4095)>>12, (i.DataEnd-i.DataStart)>>12)
}

var states = map[byte]string{'R': "running", 'S': "sleeping", 'D': "disk sleep", 'T': "stopped", 't': "tracing stop", 'Z': "zombie", 'X': "dead"}

func (p *process) statusText() []byte {
	i := p.info()
	w := p.q.Who()
	var b bytes.Buffer
	state := byte(i.State)
	if state == 0 {
		state = 'R'
	}
	cred := w.Cred
	fmt.Fprintf(&b, "Name:\t%s\nUmask:\t%04o\nState:\t%c (%s)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", p.name(), w.Umask, state, states[state], i.PID, p.tid, i.Parent)
	fmt.Fprintf(&b, "Uid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nFDSize:\t%d\nGroups:\t", cred.UID, cred.EUID, cred.SUID, cred.FSUID, cred.GID, cred.EGID, cred.SGID, cred.FSGID, 64)
	for _, g := range cred.Groups {
		fmt.Fprintf(&b, "%d ", g)
	}
	b.WriteByte('\n')
	for _, l := range [...]struct {
		name  string
		bytes uint64
	}{{"VmPeak", i.Virtual}, {"VmSize", i.Virtual}, {"VmLck", i.Locked}, {"VmPin", 0}, {"VmHWM", i.PeakResident}, {"VmRSS", i.Resident}, {"RssAnon", i.Resident - min(i.Shared, i.Resident)},
		{"RssFile", i.Shared}, {"RssShmem", 0}, {"VmData", i.DataEnd - i.DataStart}, {"VmStk", 0}, {"VmExe", i.CodeEnd - i.CodeStart}, {"VmLib", 0}, {"VmPTE", 0}, {"VmSwap", 0}} {
		fmt.Fprintf(&b, "%s:\t%8d kB\n", l.name, l.bytes>>10)
	}
	all := uint64(0)
	if cred.EUID == 0 {
		all = 1<<41 - 1
	}
	fmt.Fprintf(&b, "Threads:\t%d\nSigQ:\t0/4096\nSigPnd:\t0000000000000000\nShdPnd:\t%016x\nSigBlk:\t%016x\nSigIgn:\t%016x\nSigCgt:\t%016x\n", i.Threads, i.Pending, i.Blocked, i.Ignored, i.Caught)
	fmt.Fprintf(&b, "CapInh:\t0000000000000000\nCapPrm:\t%016x\nCapEff:\t%016x\nCapBnd:\t%016x\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n", all, all, uint64(1<<41-1))
	cpus := uint64(1)<<max(p.o.CPUs, 1) - 1
	fmt.Fprintf(&b, "Cpus_allowed:\t%x\nCpus_allowed_list:\t%s\nMems_allowed:\t1\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n", cpus, cpuList(p.o.CPUs))
	return b.Bytes()
}

func cpuList(n int) string {
	if n <= 1 {
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}

var limits = [16][2]string{unix.RLIMIT_CPU: {"Max cpu time", "seconds"}, unix.RLIMIT_FSIZE: {"Max file size", "bytes"}, unix.RLIMIT_DATA: {"Max data size", "bytes"}, unix.RLIMIT_STACK: {"Max stack size", "bytes"},
	unix.RLIMIT_CORE: {"Max core file size", "bytes"}, unix.RLIMIT_RSS: {"Max resident set", "bytes"}, unix.RLIMIT_NPROC: {"Max processes", "processes"}, unix.RLIMIT_NOFILE: {"Max open files", "files"},
	unix.RLIMIT_MEMLOCK: {"Max locked memory", "bytes"}, unix.RLIMIT_AS: {"Max address space", "bytes"}, unix.RLIMIT_LOCKS: {"Max file locks", "locks"}, 11: {"Max pending signals", "signals"},
	12: {"Max msgqueue size", "bytes"}, 13: {"Max nice priority", ""}, 14: {"Max realtime priority", ""}, 15: {"Max realtime timeout", "us"}}

func (p *process) limitsText() []byte {
	i := p.info()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	show := func(v uint64) string {
		if v == ^uint64(0) {
			return "unlimited"
		}
		return fmt.Sprint(v)
	}
	for n, l := range limits {
		fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", l[0], show(i.Limits[n][0]), show(i.Limits[n][1]), l[1])
	}
	return b.Bytes()
}

func (p *process) mountsText() []byte {
	var b bytes.Buffer
	for _, m := range p.k.NS.Mounts() {
		fmt.Fprintf(&b, "%s %s %s %s 0 0\n", m.FS.Source, m.Path, m.FS.Type, m.FS.Options)
	}
	return b.Bytes()
}

func (p *process) mountinfoText() []byte {
	var b bytes.Buffer
	for _, m := range p.k.NS.Mounts() {
		fmt.Fprintf(&b, "%d %d %d:%d / %s %s - %s %s rw\n", m.FS.ID, m.Parent, unix.Major(m.FS.Dev), unix.Minor(m.FS.Dev), m.Path, m.FS.Options, m.FS.Type, m.FS.Source)
	}
	return b.Bytes()
}

// mapsText is /proc/PID/maps, or smaps (proc_pid_maps(5)): the name begins at
// column 73.
func (p *process) mapsText(smaps bool) []byte {
	var b bytes.Buffer
	var buf [64]abi.Map
	for from := uint64(0); ; {
		n, e := p.m.Maps(p.q.PID, from, buf[:])
		if e != 0 || n == 0 {
			return b.Bytes()
		}
		for i := range buf[:n] {
			p.mapLine(&b, &buf[i], smaps)
		}
		from = buf[n-1].End
	}
}

func (p *process) mapLine(b *bytes.Buffer, m *abi.Map, smaps bool) {
	perm := []byte("---p")
	for i, bit := range [3]uint32{unix.PROT_READ, unix.PROT_WRITE, unix.PROT_EXEC} {
		if m.Prot&bit != 0 {
			perm[i] = "rwx"[i]
		}
	}
	if m.Flags&unix.MAP_SHARED != 0 {
		perm[3] = 's'
	}
	name, dev, ino := "", uint64(0), uint64(0)
	switch {
	case m.Kind == abi.MapStack:
		name = "[stack]"
	case m.Kind == abi.MapHeap:
		name = "[heap]"
	case m.Kind == abi.MapVDSO:
		name = "[vdso]"
	case m.Kind == abi.MapVvar:
		name = "[vvar]"
	case m.Object != 0:
		name, dev, ino = p.k.ObjectName(p.q, m.Object)
		if ino == 0 {
			ino = m.Ino
		}
	}
	at := b.Len()
	fmt.Fprintf(b, "%08x-%08x %s %08x %02x:%02x %d ", m.Start, m.End, perm, m.Offset, unix.Major(dev), unix.Minor(dev), ino)
	if name != "" {
		for b.Len()-at < 73 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	} else {
		b.Truncate(b.Len() - 1)
		b.WriteByte(' ')
	}
	b.WriteByte('\n')
	if smaps {
		fmt.Fprintf(b, "Size:           %8d kB\nKernelPageSize:        4 kB\nMMUPageSize:           4 kB\nRss:            %8d kB\nPss:            %8d kB\n", (m.End-m.Start)>>10, m.Resident>>10, m.Resident>>10)
	}
}
