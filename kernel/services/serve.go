//go:build amd64

package main

import (
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/leveret-os/leveret/kernel/abi"
)

type frame = abi.Frame

func ptr(a uint64) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), int(a)) }

const userTop = 0x7ffffffff000

func copyin(b []byte, a uint64) bool {
	n := uint64(len(b))
	if n == 0 {
		return true
	}
	if a >= userTop || a+n > userTop {
		return false
	}
	return ucopy(uintptr(unsafe.Pointer(&b[0])), uintptr(a), uintptr(n)) != 0
}

func copyout(a uint64, b []byte) bool {
	n := uint64(len(b))
	if n == 0 {
		return true
	}
	if a >= userTop || a+n > userTop {
		return false
	}
	return ucopy(uintptr(a), uintptr(unsafe.Pointer(&b[0])), uintptr(n)) != 0
}

func errno(e uint64) uint64 { return -e }

type inode struct {
	name string
	mode uint32
	data []byte
	ino  uint64
	kids []*inode
}

type file struct {
	mu  sync.Mutex
	ino *inode
	off uint64
	tty bool
}

var (
	root = map[string]*inode{}
	fdMu sync.Mutex
	fds  [256]atomic.Pointer[file]
	// recvAddr: core's entry for reply_and_receive
	recvAddr uint64
)

func loadInitramfs() {
	var r [2]uint64
	syscall.RawSyscall(0x1002, uintptr(unsafe.Pointer(&r)), 0, 0)
	if r[1] == 0 {
		return
	}
	b := unsafe.Slice((*byte)(ptr(r[0])), r[1])
	h := func(o int) int { v, _ := strconv.ParseUint(string(b[o:o+8]), 16, 64); return int(v) }
	dir := &inode{name: "", mode: 0040755, ino: 1}
	root[""] = dir
	for o, i := 0, uint64(2); string(b[o:o+6]) == "070701"; i++ {
		fs, ns := h(o+54), h(o+94)
		name := string(b[o+110 : o+110+ns-1])
		d := (o + 110 + ns + 3) &^ 3
		if name == "TRAILER!!!" {
			break
		}
		n := &inode{name: name, mode: uint32(h(o + 14)), data: b[d : d+fs : d+fs], ino: i}
		root[name] = n
		if !strings.Contains(name, "/") {
			dir.kids = append(dir.kids, n)
		}
		o = (d + fs + 3) &^ 3
	}
	tty := &inode{name: "console", mode: 0020600, ino: 99}
	for i := range 3 {
		fds[i].Store(&file{ino: tty, tty: true})
	}
}

func getf(fd uint64) *file {
	if fd >= uint64(len(fds)) {
		return nil
	}
	return fds[fd].Load()
}

var systab = [512]func(*frame, []byte) uint64{
	0:   sysRead,
	17:  sysRead,
	1:   sysWrite,
	257: sysOpenat,
	3:   sysClose,
	5:   sysFstat,
	72:  sysFcntl,
	217: sysGetdents,
	291: sysEp,
	290: sysEp,
	233: sysZero,
	281: sysZero2,
}

func sysRead(f *frame, buf []byte) uint64 {
	fl := getf(f.DI)
	if fl == nil {
		return errno(9)
	}
	fl.mu.Lock()
	defer fl.mu.Unlock()
	off := fl.off
	if f.AX == 17 {
		off = f.R10
	}
	if off >= uint64(len(fl.ino.data)) {
		return 0
	}
	d := fl.ino.data[off:]
	if uint64(len(d)) > f.DX {
		d = d[:f.DX]
	}
	if !copyout(f.SI, d) {
		return errno(14)
	}
	if f.AX == 0 {
		fl.off += uint64(len(d))
	}
	return uint64(len(d))
}

func sysWrite(f *frame, buf []byte) uint64 {
	fl := getf(f.DI)
	if fl == nil {
		return errno(9)
	}
	if !fl.tty {
		return errno(30)
	}
	n := f.DX
	if n > uint64(len(buf)) {
		n = uint64(len(buf))
	}
	if !copyin(buf[:n], f.SI) {
		return errno(14)
	}
	if n > 0 {
		syscall.RawSyscall(0x1004, uintptr(unsafe.Pointer(&buf[0])), uintptr(n), 0)
	}
	return n
}

func sysOpenat(f *frame, buf []byte) uint64 {
	var nb [256]byte
	n := 0
	for n < len(nb) {
		c := 64 - int(f.SI+uint64(n))&63
		if c > len(nb)-n {
			c = len(nb) - n
		}
		if !copyin(nb[n:n+c], f.SI+uint64(n)) {
			return errno(14)
		}
		if i := strings.IndexByte(string(nb[n:n+c]), 0); i >= 0 {
			n += i
			break
		}
		n += c
	}
	ino := root[strings.Trim(string(nb[:n]), "/")]
	if ino == nil {
		return errno(2)
	}
	fdMu.Lock()
	defer fdMu.Unlock()
	for i := range fds {
		if fds[i].Load() == nil {
			fds[i].Store(&file{ino: ino})
			return uint64(i)
		}
	}
	return errno(24)
}

func sysClose(f *frame, buf []byte) uint64 {
	fdMu.Lock()
	defer fdMu.Unlock()
	if f.DI >= uint64(len(fds)) || fds[f.DI].Load() == nil {
		return errno(9)
	}
	fds[f.DI].Store(nil)
	return 0
}

func sysFstat(f *frame, buf []byte) uint64 {
	fl := getf(f.DI)
	if fl == nil {
		return errno(9)
	}
	var st [144]byte
	le := binary.LittleEndian
	le.PutUint64(st[8:], fl.ino.ino)
	le.PutUint64(st[16:], 1)
	le.PutUint32(st[24:], fl.ino.mode)
	le.PutUint64(st[48:], uint64(len(fl.ino.data)))
	le.PutUint64(st[56:], 4096)
	if !copyout(f.SI, st[:]) {
		return errno(14)
	}
	return 0
}

func sysFcntl(f *frame, buf []byte) uint64 {
	if getf(f.DI) == nil {
		return errno(9)
	}
	if f.SI == 3 {
		return 2
	}
	return 0
}

func sysGetdents(f *frame, buf []byte) uint64 {
	fl := getf(f.DI)
	if fl == nil {
		return errno(9)
	}
	var out []byte
	le := binary.LittleEndian
	for fl.off < uint64(len(fl.ino.kids)) {
		k := fl.ino.kids[fl.off]
		rl := (19 + len(k.name) + 1 + 7) &^ 7
		if len(out)+rl > int(f.DX) {
			break
		}
		e := make([]byte, rl)
		le.PutUint64(e, k.ino)
		le.PutUint64(e[8:], fl.off+1)
		le.PutUint16(e[16:], uint16(rl))
		e[18] = byte(k.mode >> 12)
		copy(e[19:], k.name)
		out = append(out, e...)
		fl.off++
	}
	if !copyout(f.SI, out) {
		return errno(14)
	}
	return uint64(len(out))
}

func sysEp(f *frame, buf []byte) uint64 {
	return 100
}

func sysZero(f *frame, buf []byte) uint64 {
	return 0
}

func sysZero2(f *frame, buf []byte) uint64 {
	return 0
}

func serve(f *frame, buf []byte) uint64 {
	if n := f.AX; n < uint64(len(systab)) {
		if h := systab[n]; h != nil {
			return h(f, buf)
		}
		return errno(38)
	}
	return errno(38)
}

func handler(sysMode bool) {
	runtime.LockOSThread()
	buf := make([]byte, 65536)
	var reply uint64
	kicked := false
	for {
		var a uint64
		// After a kick wait in entersyscall state, so that the P is free and
		// sysmon can sleep; back to the cheap raw wait with the next request.
		if sysMode || kicked {
			r, _, _ := syscall.Syscall(0x1000, uintptr(reply), 0, 0)
			a = uint64(r)
		} else {
			a = recv(reply)
		}
		reply = 0
		if a == 0 { // kicked
			kicked = true
			runtime.Gosched()
			continue
		}
		kicked = false
		reply = serve((*frame)(ptr(a)), buf)
	}
}

func startServing() {
	loadInitramfs()
	lo, hi, pad := ucopyRange()
	syscall.RawSyscall(0x1001, lo, hi, pad)
	ra, _, _ := syscall.RawSyscall(0x1006, 0, 0, 0)
	recvAddr = uint64(ra)
	mode := os.Getenv("RECV") == "syscall"
	for range 4 {
		go handler(mode)
	}
}
