package scheduling

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leveret-os/leveret/internal/testenv"
	"github.com/leveret-os/leveret/kernel/machine"
)

// tick is that of Linux with HZ=100, as the reference of bench/kernels has it,
// in microseconds.
const tick = 10_000

// bounds are what each figure of the program has to lie within. Weights are
// Linux's (sched_prio_to_weight, kernel/sched/core.c): nice 0 is 1024, nice 5
// is 335. How late a real-time thread wakes beside a long call is the longest
// way that the kernel goes without looking at its run queue.
var bounds = map[string][2]float64{
	"share-least":                {95, 100},
	"share-most":                 {100, 105},
	"nice-5":                     {1024. / 335 * 0.95, 1024. / 335 * 1.05},
	"other-beside-hog-p99":       {0, tick},
	"fifo-beside-hog-max":        {0, 50},
	"fifo-forwarded-max":         {0, 100},
	"fifo-wake-max":              {0, 50},
	"rr-interval":                {100, 100},
	"rr-slice":                   {95, 105},
	"fifo-beside-munmap-max":     {0, 100},
	"fifo-beside-mlock-max":      {0, 100},
	"fifo-beside-mremap-max":     {0, 100},
	"fifo-beside-madvise-max":    {0, 100},
	"fifo-beside-file-max":       {0, 100},
	"fifo-beside-fallocate-max":  {0, 100},
	"other-beside-munmap-p99":    {0, tick},
	"other-beside-mlock-p99":     {0, tick},
	"other-beside-mremap-p99":    {0, tick},
	"other-beside-madvise-p99":   {0, tick},
	"other-beside-file-p99":      {0, tick},
	"other-beside-fallocate-p99": {0, tick},
	"user-loop-user":             {290, 310},
	"user-loop-system":           {0, 15},
	"call-loop-user":             {0, 30},
	"call-loop-system":           {270, 330},
	"times-system":               {270, 340},
}

func TestScheduling(t *testing.T) {
	if os.Getenv("LEVERET_BOOT") == "" {
		t.Skip("boots machines: ./test kernel")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		testenv.Absent(t, err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if text, err := exec.Command("gcc", "-O1", "-Wall", "-Wextra", "-static", "-pthread", "-o", program, "program/main.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, text)
	}
	r, err := machine.Run(context.Background(), machine.Config{Program: program, ICount: true, Append: "quiet tsc_early_khz=1000000 tsc=reliable", Timeout: 8 * time.Minute})
	if err != nil || r.Status != 0 {
		t.Fatalf("status %d, %v\n%s", r.Status, err, r.Console)
	}
	got := map[string]float64{}
	for line := range strings.Lines(string(r.Console)) {
		if f := strings.Fields(line); len(f) == 3 {
			if v, err := strconv.ParseFloat(f[1], 64); err == nil {
				got[f[0]] = v
				t.Logf("%s %s %s", f[0], f[1], f[2])
			}
		}
	}
	for name, b := range bounds {
		if v, ok := got[name]; !ok || v < b[0] || v > b[1] {
			t.Errorf("%s: %v, want %.4g to %.4g", name, v, b[0], b[1])
		}
	}
}
