package image

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// one is a linked program of one function of core's and some of the runtime's.
func one(code ...byte) *linked {
	l := &linked{symbols: map[string]uint64{"main.panicEntry": 0x1100}}
	text := bytes.Repeat([]byte{0x90}, 0x400)
	copy(text, code)
	l.segments = []*segment{{virt: 0x1000, memSize: 0x400, data: text}}
	for i, name := range []string{"main.f", "main.panicEntry", "runtime.gopanic", "runtime.newobject"} {
		l.functions = append(l.functions, function{name: name, addr: 0x1000 + uint64(i)*0x100, size: 0x100})
	}
	l.functions[1].assembly = true
	return l
}

func call(op byte, from, to uint32) []byte {
	c := []byte{op, 0, 0, 0, 0}
	le.PutUint32(c[1:], to-from-5)
	return c
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		code []byte
		bad  string
	}{
		"nothing":            {nil, ""},
		"a call of core":     {call(0xe8, 0, 0x100), ""},
		"a trapped call":     {call(0xe8, 0, 0x200), ""},
		"into a trapped one": {call(0xe8, 0, 0x210), ""},
		"an allocation":      {call(0xe8, 0, 0x300), "calls runtime.newobject"},
		"a jump to it":       {call(0xe9, 0, 0x300), "calls runtime.newobject"},
		"a call out of all":  {call(0xe8, 0, 0x900), "calls 0x1900"},
		"a branch to it":     {append([]byte{0x0f}, call(0x84, 1, 0x300)...), "calls runtime.newobject"},
		"MOVUPS (AX), X0":    {[]byte{0x0f, 0x10, 0x00}, "vector"},
		"MOVUPS (AX), X14":   {[]byte{0x44, 0x0f, 0x10, 0x30}, ""},
		"MOVUPS X15, (AX)":   {[]byte{0x44, 0x0f, 0x11, 0x38}, ""},
		"MOVQ AX, X1":        {[]byte{0x66, 0x48, 0x0f, 0x6e, 0xc8}, "vector"},
		"CVTSQ2SD AX, X2":    {[]byte{0xf2, 0x48, 0x0f, 0x2a, 0xd0}, "vector"},
		"XORPS X15, X15":     {[]byte{0x45, 0x0f, 0x57, 0xff}, ""},
		"XORPS X3, X15":      {[]byte{0x44, 0x0f, 0x57, 0xfb}, "vector"},
		"POPCNTQ AX, AX":     {[]byte{0xf3, 0x48, 0x0f, 0xb8, 0xc0}, ""},
		"VZEROUPPER":         {[]byte{0xc5, 0xf8, 0x77}, "VEX"},
		"REP STOSQ":          {[]byte{0xf3, 0x48, 0xab}, "repeats"},
		"a load of g":        {loadG, ""},
		"another load of FS": {[]byte{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff}, "uses FS"},
		"no instruction":     {[]byte{0x06}, "no instruction"},
		"e8 in an immediate": {[]byte{0xb8, 0xe8, 0x00, 0x00, 0x00}, ""},
		"0f 10 in a place":   {[]byte{0x48, 0x39, 0x15, 0x09, 0x0f, 0x10, 0x00}, ""},
	} {
		err := one(c.code...).check()
		if c.bad == "" && err != nil || c.bad != "" && (!errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %v, want %q", name, err, c.bad)
		}
	}
	l := one()
	l.segments[0].data[0x100] = 0x0f // MOVUPS (AX), X0, in assembly
	l.segments[0].data[0x101] = 0x10
	l.segments[0].data[0x102] = 0x00
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

func TestPatches(t *testing.T) {
	l := one(append(append([]byte{0x90}, loadG...), loadG...)...)
	if n, err := l.removeLoadsOfG(); n != 2 || err != nil {
		t.Errorf("%d loads of g, %v", n, err)
	}
	if bytes.Contains(l.segments[0].data, loadG) || !bytes.Contains(l.segments[0].data, nop9) {
		t.Error("loads of g are left")
	}
	if n, err := l.trapRuntime(); n != 2 || err != nil {
		t.Errorf("%d entries trapped, %v", n, err)
	}
	for _, at := range []uint32{0x200, 0x300} {
		if got, want := l.segments[0].data[at:at+5], call(0xe8, at, 0x100); !bytes.Equal(got, want) {
			t.Errorf("at %#x: % x, want % x", at, got, want)
		}
	}
}

var vectorOperand = regexp.MustCompile(`\bX([0-9]|1[0-5])\b`)

// decode finds the same instructions in a whole program as the toolchain's
// disassembler: this test's own.
func TestDecodeAgreesWithObjdump(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	file := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-o", file, "../testdata/hello")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	dump, err := exec.Command("go", "tool", "objdump", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, bad := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(dump))
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // file:line address code instruction
		if len(fields) < 4 || fields[0] == "TEXT" {
			continue
		}
		code, err := hex.DecodeString(fields[2])
		if err != nil {
			t.Fatal(lines.Text())
		}
		text := strings.Join(fields[3:], " ")
		// The disassembler knows no VEX and goes on a byte at a time.
		if len(code) == 0 || strings.Contains(text, "?") || code[0] == 0xc4 || code[0] == 0xc5 || code[0] == 0x62 || strings.Contains(fields[0], ".s:") {
			continue
		}
		n++
		i, ok := decode(code)
		if (!ok || i.size != len(code)) && bad < 10 {
			bad++
			t.Errorf("% x: %d bytes, %v; %s", code, i.size, ok, text)
		}
		if (i.vectors() != 0) != vectorOperand.MatchString(text) && bad < 10 {
			bad++
			t.Errorf("% x: vectors %b; %s", code, i.vectors(), text)
		}
	}
	if n < 100000 {
		t.Errorf("only %d instructions", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x0f, 0x10, 0x84, 0x24, 1, 2, 3, 4})
	f.Add(loadG)
	f.Fuzz(func(t *testing.T, code []byte) {
		i, ok := decode(code)
		if ok && (i.size < 1 || i.size > len(code)) {
			t.Errorf("% x: %d bytes", code, i.size)
		}
		i.vectors()
	})
}
