package image_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/leveret-os/leveret/kernel/image"
	"github.com/leveret-os/leveret/kernel/machine"
)

// core is kernel/core, linked.
var core = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "leveret-core")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "core.elf")
	args := append(append([]string{"build", "-trimpath", "-buildvcs=false", "-o", file}, machine.CoreFlags...), "../core")
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return text, err
	}
	return os.ReadFile(file)
})

func kernel(t *testing.T, services []byte) (*elf.File, image.Summary) {
	t.Helper()
	linked, err := core()
	if err != nil {
		t.Fatalf("%v\n%s", err, linked)
	}
	data, sum, err := image.Kernel(bytes.NewReader(linked), services)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f, sum
}

// memory is the image as a machine has it after loading.
type memory struct {
	t     *testing.T
	bytes []byte
}

func load(t *testing.T, f *elf.File) memory {
	m := memory{t, make([]byte, 32<<20)}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Paddr%4096 != 0 || p.Off%4096 != 0 {
			t.Errorf("segment at %#x is not on a page", p.Paddr)
		}
		for i, b := range m.bytes[p.Paddr : p.Paddr+p.Memsz] {
			if b != 0 {
				t.Fatalf("two segments at %#x", p.Paddr+uint64(i))
			}
		}
		if _, err := p.ReadAt(m.bytes[p.Paddr:][:p.Filesz], 0); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m memory) word(a uint64) uint64 { return binary.LittleEndian.Uint64(m.bytes[a:]) }

// leaves calls visit for every page that the tables at root map.
func (m memory) leaves(root uint64, visit func(virt, entry, size uint64)) {
	m.level(root, 39, 0, true, false, visit)
}

func (m memory) level(table uint64, shift uint, base uint64, writable, noExecute bool, visit func(virt, entry, size uint64)) {
	const p, w, large, nx = 1, 2, 1 << 7, 1 << 63
	for i := range uint64(512) {
		e := m.word(table + i*8)
		if e&p == 0 {
			continue
		}
		virt := base + i<<shift
		if shift == 39 && i >= 256 {
			virt |= 0xffff << 48
		}
		mayWrite, mayNot := writable && e&w != 0, noExecute || e&nx != 0
		if shift > 12 && (e&large == 0 || shift > 30) {
			m.level(e&0x000ffffffffff000, shift-9, virt, mayWrite, mayNot, visit)
			continue
		}
		rights := e & 0x000ffffffffff000
		if mayWrite {
			rights |= w
		}
		if !mayNot {
			rights |= p // executable
		}
		visit(virt, rights, 1<<shift)
	}
}

// Nothing is both writable and executable, in both sets of tables; core's text
// and constants are not writable by the direct map either; and core is mapped
// where it was linked.
func TestRights(t *testing.T) {
	f, _ := kernel(t, nil)
	m := load(t, f)
	const direct, high = 0xffff900000000000, 0xffffffff80000000
	for _, root := range []uint64{0x100000, 0x101000} {
		rights := map[uint64]uint64{}
		executable := 0
		m.leaves(root, func(virt, e, size uint64) {
			if e&3 == 3 {
				t.Errorf("%#x: %#x is writable and executable", root, virt)
			}
			if e&1 != 0 {
				executable++
				if virt >= direct && virt < direct+1<<39 {
					t.Errorf("%#x: %#x of the direct map is executable", root, virt)
				}
			}
			if size == 4096 {
				rights[virt] = e
			}
			if virt >= direct && virt < direct+1<<39 && virt-direct != e&^4095 {
				t.Errorf("%#x: %#x maps %#x", root, virt, e)
			}
		})
		if executable == 0 {
			t.Errorf("%#x: nothing is executable", root)
		}
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD || p.Paddr < 0x200000 {
				continue
			}
			var want uint64
			if p.Flags&elf.PF_W != 0 {
				want |= 2
			}
			if p.Flags&elf.PF_X != 0 {
				want |= 1
			}
			for at := p.Paddr; at < p.Paddr+p.Memsz; at += 4096 {
				if got := rights[high+at]; got != at|want {
					t.Fatalf("%#x: core's page at %#x: %#x, want %#x", root, at, got, at|want)
				}
				if got := rights[direct+at] & 2; got != want&2 {
					t.Fatalf("%#x: the direct map of core's page at %#x: %#x", root, at, got)
				}
			}
		}
	}
	// The shared tables have no lower half.
	for i := range uint64(256) {
		if e := m.word(0x100000 + i*8); e != 0 {
			t.Errorf("slot %d of the shared tables is %#x", i, e)
		}
	}
}

func TestServicesAreEmbedded(t *testing.T) {
	services := bytes.Repeat([]byte("services"), 1000)
	f, sum := kernel(t, services)
	m := load(t, f)
	const info = 0x1150c0
	at, size, end := m.word(info+8), m.word(info+16), m.word(info+24)
	if at%4096 != 0 || !bytes.Equal(m.bytes[at:at+size], services) {
		t.Errorf("services at %#x, %d bytes", at, size)
	}
	if end != sum.End || end != (at+size+4095)&^4095 {
		t.Errorf("the image ends at %#x, Summary says %#x", end, sum.End)
	}
	var note []byte
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE {
			note = make([]byte, p.Filesz)
			if _, err := p.ReadAt(note, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := append([]byte{4, 0, 0, 0, 8, 0, 0, 0, 18, 0, 0, 0, 'X', 'e', 'n', 0}, binary.LittleEndian.AppendUint64(nil, f.Entry)...)
	if !bytes.Equal(note, want) {
		t.Errorf("note % x, want % x", note, want)
	}
	if sum.LoadsOfG == 0 || sum.Trapped == 0 || sum.Symbols == 0 {
		t.Errorf("nothing was done: %+v", sum)
	}
}

func TestNotLinkedLikeCore(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a test": self, "nothing": nil, "text": []byte("no ELF file at all, though long enough to have a header of one")} {
		if _, _, err := image.Kernel(bytes.NewReader(data), nil); !errors.Is(err, image.ErrLinked) {
			t.Errorf("%s: %v, want ErrLinked", name, err)
		}
	}
}
