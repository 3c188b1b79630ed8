package machine

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// console takes what the machine says, with the moments that matter.
type console struct {
	output io.Writer

	mu          sync.Mutex
	begin       time.Time
	pid         int
	text        []byte
	line        int // where the last line begins
	booted      bool
	firstByte   time.Duration
	firstOutput time.Duration
	firstRAM    int64
	peakRAM     int64
}

func (w *console) started(begin time.Time, pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begin, w.pid = begin, pid
}

func (w *console) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.take(p)
	w.mu.Unlock()
	if w.output != nil {
		return w.output.Write(p)
	}
	return len(p), nil
}

// take keeps p and looks at the lines that it completes.
func (w *console) take(p []byte) {
	now := time.Since(w.begin)
	if w.firstByte == 0 {
		w.firstByte = now
	}
	w.text = append(w.text, p...)
	for {
		n := bytes.IndexByte(w.text[w.line:], '\n')
		if n < 0 {
			return
		}
		line := string(w.text[w.line : w.line+n])
		w.line += n + 1
		switch {
		case strings.HasPrefix(line, bootLine):
			w.booted = true
		case w.booted && w.firstOutput == 0 && !ofKernel(line):
			w.firstOutput = now
			w.firstRAM = guestRAM(w.pid)
			w.peakRAM = w.firstRAM
		}
	}
}

// sample looks at the machine's memory until stop.
func (w *console) sample(stop <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			if n := guestRAM(w.pid); n > 0 {
				w.mu.Lock()
				w.peakRAM = max(w.peakRAM, n)
				w.mu.Unlock()
			}
		}
	}
}

func (w *console) into(r *Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Console = w.text
	r.FirstByte, r.FirstOutput = w.firstByte, w.firstOutput
	r.FirstRAM, r.PeakRAM = w.firstRAM, w.peakRAM
}

// guestRAM returns how much of QEMU's largest mapping, which is the guest's
// memory, is resident, in bytes, or 0.
func guestRAM(pid int) int64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	var size, largest, resident int64
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var kib int64
		if n, _ := fmt.Sscanf(lines.Text(), "Size: %d kB", &kib); n == 1 {
			size = kib
		} else if n, _ := fmt.Sscanf(lines.Text(), "Rss: %d kB", &kib); n == 1 && size > largest {
			largest, resident = size, kib
		}
	}
	return resident << 10
}
