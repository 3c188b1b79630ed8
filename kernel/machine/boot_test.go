package machine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// run boots a machine, with time enough for a busy host.
func run(t *testing.T, c machine.Config) (machine.Result, string, error) {
	t.Helper()
	if os.Getenv("LEVERET_BOOT") == "" {
		t.Skip("boots machines: ./test kernel")
	}
	if c.Program == "" {
		c.Program = "../testdata/hello"
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	r, err := machine.Run(context.Background(), c)
	return r, strings.ReplaceAll(string(r.Console), "\r\n", "\n"), err
}

// The kernel starts a program on every machine, and says what it has to.
func TestBoot(t *testing.T) {
	for name, c := range map[string]struct {
		config machine.Config
		lines  []string
	}{
		"q35":             {machine.Config{}, []string{"CPUS 1"}},
		"q35, 4":          {machine.Config{CPUs: 4, Append: "selftest"}, []string{"CPUS 4", "CPU 3 apic=3 alive", "SELFTEST frames OK 10000", "TICKS 100"}},
		"microvm":         {machine.Config{Machine: "microvm", Append: "selftest"}, []string{"CPUS 1", "SELFTEST frames OK 10000", "TICKS 100"}},
		"microvm, no PIT": {machine.Config{Machine: "microvm", QEMU: []string{"-machine", "pit=off,pic=off"}}, nil},
		"64 MiB":          {machine.Config{Memory: "64M"}, nil},
		"64 GiB":          {machine.Config{Memory: "64G"}, nil},
		"a given TSC":     {machine.Config{Append: "tsc_early_khz=1000000 tsc=reliable", ICount: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, console, err := run(t, c.config)
			if err != nil || r.Status != 0 {
				t.Fatalf("status %d, %v\n%s", r.Status, err, console)
			}
			for _, line := range append(c.lines, "Leveret: boot OK", "hello", "EXIT status=0") {
				if !strings.Contains("\n"+console, "\n"+line+"\n") {
					t.Errorf("no line %q\n%s", line, console)
				}
			}
			if !regexp.MustCompile(`(?m)^MEM usable=\d+ frames=\d+$`).MatchString(console) {
				t.Errorf("no line MEM\n%s", console)
			}
			if got := machine.ProgramOutput(r.Console); got != "hello\n" {
				t.Errorf("the program said %q", got)
			}
			if r.FirstByte == 0 || r.FirstOutput < r.FirstByte || r.Wall < r.FirstOutput {
				t.Errorf("marks: %v, %v, %v", r.FirstByte, r.FirstOutput, r.Wall)
			}
		})
	}
}

// Page tables give no rights that they should not, before init and after it,
// and every processor has its protections on. umip= is what it says: Linux
// emulates what UMIP forbids, so it stays off.
func TestProtection(t *testing.T) {
	for _, n := range []int{1, 4} {
		r, console, err := run(t, machine.Config{CPUs: n, Append: "selftest"})
		if err != nil || r.Status != 0 {
			t.Fatalf("%d processors: status %d, %v\n%s", n, r.Status, err, console)
		}
		if got := len(regexp.MustCompile(`(?m)^SELFTEST pages OK \d+ executable=\d+$`).FindAllString(console, -1)); got != 2 {
			t.Errorf("%d processors: pages were checked %d times, want 2\n%s", n, got, console)
		}
		for i := range n {
			line := fmt.Sprintf("PROTECT %d wp=1 nx=1 smep=1 smap=1 umip=0\n", i)
			if !strings.Contains(console, "\n"+line) {
				t.Errorf("%d processors: no line %q\n%s", n, line, console)
			}
		}
	}
	if _, console, _ := run(t, machine.Config{}); strings.Contains(console, "PROTECT") || strings.Contains(console, "SELFTEST") {
		t.Errorf("checked though nobody asked\n%s", console)
	}
}

// The program's status comes back, and only the kernel's word of it counts.
func TestStatus(t *testing.T) {
	for arg, want := range map[string]machine.Result{
		"0": {Status: 0}, "1": {Status: 1}, "255": {Status: 255}, "panic": {Status: 2},
	} {
		r, console, err := run(t, machine.Config{Program: "../testdata/ends", Args: []string{arg}})
		if err != nil || r.Status != want.Status || r.Signal != want.Signal {
			t.Errorf("%s: status %d, signal %d, %v\n%s", arg, r.Status, r.Signal, err, console)
		}
	}
}

// A crash of core names where it happened, and has a status of its own.
func TestCrash(t *testing.T) {
	for how, want := range map[string]string{
		"nil":     `core: page fault, error 0x0, address 0x0, processor 0(?s:.*)main\.crashOnPurpose.*\n.*main\.boot`,
		"bounds":  `core: runtime\.panicBounds(?s:.*)main\.cpusIndex.*\n.*main\.crashOnPurpose.*\n.*main\.boot`,
		"stack":   `core: runtime\.morestack(?s:.*)main\.deep`,
		"write":   `core: page fault, error 0x3`,
		"execute": `core: page fault, error 0x11`,
		"double":  `core: double fault(?s:.*)main\.crashOnPurpose`,
		"die":     `core: as told\n.*main\.crashOnPurpose`,
	} {
		r, console, err := run(t, machine.Config{Append: "crash=" + how})
		if !errors.Is(err, machine.ErrCrash) {
			t.Errorf("%s: status %d, %v", how, r.Status, err)
		}
		if !regexp.MustCompile(want).MatchString(console) {
			t.Errorf("%s: want %s\n%s", how, want, console)
		}
	}
	if r, console, err := run(t, machine.Config{Append: "crash=nmi"}); err != nil || !strings.Contains(console, "core: NMIs: 1\n") {
		t.Errorf("NMI: status %d, %v\n%s", r.Status, err, console)
	}
}

func TestTimeout(t *testing.T) {
	_, console, err := run(t, machine.Config{Program: "../testdata/ends", Args: []string{"never"}, Timeout: 8 * time.Second})
	if !errors.Is(err, machine.ErrTimeout) {
		t.Errorf("%v, want ErrTimeout\n%s", err, console)
	}
}

// Large files lie on boundaries of 2 MiB in the machine's memory.
func TestAlignment(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 9<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"q35", "microvm"} {
		_, console, err := run(t, machine.Config{Machine: kind, Files: map[string]string{"data/large": large}})
		if err != nil || !regexp.MustCompile(`core: initramfs at .* on a boundary of 2 MiB`).MatchString(console) {
			t.Errorf("%s: %v\n%s", kind, err, console)
		}
	}
}

// What is typed arrives, also what came before anybody listened.
func TestInput(t *testing.T) {
	for _, kind := range []string{"q35", "microvm"} {
		_, console, err := run(t, machine.Config{
			Program: "../testdata/echo", Machine: kind, Append: "quiet", Input: strings.NewReader("one\ntwo\nend\n"),
		})
		for _, want := range []string{"got \"one\"\n", "got \"two\"\n", "got \"end\"\n"} {
			if err != nil || !strings.Contains(console, want) {
				t.Fatalf("%s: %v, want %q\n%s", kind, err, want, console)
			}
		}
	}
}
