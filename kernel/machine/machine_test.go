package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	const panicked = "[    1.0] Kernel panic - not syncing: Attempted to kill init! exitcode=0x"
	for name, c := range map[string]struct {
		code           int
		ours           bool
		console        string
		status, signal int
		err            error
	}{
		"clean":                        {33, true, "", 0, 0, nil},
		"clean, whatever was printed":  {33, true, "EXIT status=3\r\n", 0, 0, nil},
		"a status":                     {35, true, "EXIT status=99\r\nx\r\nEXIT status=3\r\n", 3, 0, nil},
		"a signal":                     {37, true, "EXIT status=139 signal=11\r\n", 139, 11, nil},
		"a status without its line":    {35, true, "EXIT status=", 0, 0, ErrEnd},
		"a crash":                      {39, true, "EXIT status=0\r\n", 0, 0, ErrCrash},
		"the end of services":          {41, true, "", 0, 0, ErrServices},
		"no boot":                      {43, true, "", 0, 0, ErrBoot},
		"a reset of ours":              {0, true, "EXIT status=0\r\n", 0, 0, ErrEnd},
		"QEMU's own error":             {1, true, "", 0, 0, ErrEnd},
		"killed":                       {-1, true, "", 0, 0, ErrEnd},
		"mainline, a reboot":           {0, false, "", 0, 0, nil},
		"mainline, status 0":           {0, false, panicked + "00000000\r\n", 0, 0, nil},
		"mainline, status 7":           {0, false, panicked + "00000700\r\n", 7, 0, nil},
		"mainline, a signal with core": {0, false, panicked + "0000008b\r\n", 139, 11, nil},
		"mainline, a crash":            {0, false, "Kernel panic - not syncing: No working init found.", 0, 0, ErrCrash},
	} {
		r := Result{Console: []byte(c.console)}
		err := r.judge(c.code, c.ours)
		if !errors.Is(err, c.err) || c.err == nil && err != nil || r.Status != c.status || r.Signal != c.signal {
			t.Errorf("%s: status %d, signal %d, %v; want %d, %d, %v", name, r.Status, r.Signal, err, c.status, c.signal, c.err)
		}
	}
}

func TestCommand(t *testing.T) {
	c := Config{Args: []string{"a", "b c"}, Append: "quiet", Memory: "64G", CPUs: 4, Machine: "microvm", ICount: true}
	args, err := c.command("KERNEL", "INITRAMFS", "EXPORT")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{
		{"-machine", "microvm,memory-backend=ram"}, {"-smp", "4"}, {"-kernel", "KERNEL"}, {"-initrd", "INITRAMFS"},
		{"-object", "memory-backend-ram,id=ram,size=68719476736,reserve=off"}, {"-icount", "shift=0,sleep=off"},
		{"-append", `console=ttyS0 panic=-1 quiet -- a "b c"`},
	} {
		if i := slices.Index(args, want[0]); i < 0 || args[i+1] != want[1] {
			t.Errorf("%q: no %q", args, want)
		}
	}
	for _, bad := range []Config{
		{Machine: "pc"}, {Memory: "0"}, {Memory: "x"}, {Memory: "-1G"}, {Memory: "99999999999G"},
		{Args: []string{`"`}, Kernel: "x"}, {Args: []string{""}, Kernel: "x"}, {Args: []string{"\x00"}}, {Memory: "63M"}, {Memory: "65G"},
		{CPUs: -1}, {CPUs: 256}, {Accel: "hvf"}, {Accel: "kvm", ICount: true}, {Get: map[string]string{"/a": "b"}, Kernel: "x"}, {Append: strings.Repeat("x", maxLine)},
	} {
		if _, err := bad.command("", "", ""); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", bad, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"64": 64 << 20, "64M": 64 << 20, "64m": 64 << 20, "2G": 2 << 30, "2048K": 2 << 20} {
		if got, err := parseSize(s); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", s, got, err, want)
		}
	}
}

func TestTail(t *testing.T) {
	text := "qemu-system-x86_64: warning: TCG doesn't support requested feature: CPUID.01H\nqemu-system-x86_64: no\n"
	if got, want := tail([]byte(text)), "\nqemu-system-x86_64: no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
