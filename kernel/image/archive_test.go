package image_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/kernel/image"
)

type member struct {
	name  string
	mode  uint64
	data  string
	at    int // of the data
	major uint64
}

// members reads an initramfs as Linux does: archive after archive, with zeros
// between.
func members(t *testing.T, b []byte) (all []member) {
	t.Helper()
	inodes := map[uint64]bool{}
	for at := 0; at < len(b); {
		if b[at] == 0 {
			at++
			continue
		}
		if at%4 != 0 || len(b)-at < 110 || string(b[at:at+6]) != "070701" {
			t.Fatalf("no header at %#x", at)
		}
		field := func(i int) uint64 {
			v, err := strconv.ParseUint(string(b[at+6+8*i:][:8]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		size, nameSize := int(field(6)), int(field(11))
		name := string(b[at+110 : at+110+nameSize-1])
		data := (at + 110 + nameSize + 3) &^ 3
		if name != "TRAILER!!!" {
			if inodes[field(0)] {
				t.Errorf("%s: inode %d a second time", name, field(0))
			}
			inodes[field(0)] = true
			all = append(all, member{name, field(1), string(b[data : data+size]), data, field(9)})
		}
		at = (data + size + 3) &^ 3
	}
	return all
}

func build(t *testing.T, p image.Placement, sizes ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	a := image.NewArchive(&b)
	a.Dir("dev", 0o755)
	a.CharDevice("dev/console", 0o600, 5, 1)
	a.Symlink("link", "dev/console")
	for i, size := range sizes {
		if err := a.File(fmt.Sprint("file", i), 0o644, int64(size), strings.NewReader(strings.Repeat(string(rune('a'+i)), size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchive(t *testing.T) {
	sizes := []int{0, 1, 4095, 4096, 5000, 8 << 20, 3, 9<<20 + 1}
	for _, p := range []image.Placement{image.Q35, image.MicroVM} {
		b := build(t, p, sizes...)
		got := members(t, b)
		want := []member{{name: "dev", mode: 0o040755}, {name: "dev/console", mode: 0o020600, major: 5}, {name: "link", mode: 0o120777, data: "dev/console"}}
		for i, size := range sizes {
			want = append(want, member{name: fmt.Sprint("file", i), mode: 0o100644, data: strings.Repeat(string(rune('a'+i)), size)})
		}
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		// Where QEMU puts the first byte, below an end that is a multiple of 2 MiB.
		base := (1<<30 - int(p) - 1 - len(b)) &^ 4095
		for i, w := range want {
			g := got[i]
			at := base + g.at
			switch size := len(g.data); {
			case size >= 8<<20 && at%(2<<20) != 0:
				t.Errorf("%s is at %#x, want a multiple of 2 MiB", g.name, at)
			case size >= 4096 && at%4096 != 0:
				t.Errorf("%s is at %#x, want a multiple of 4096", g.name, at)
			}
			if g.at = 0; g != w {
				t.Errorf("%s: mode %o, %d bytes; want %s, %o, %d", g.name, g.mode, len(g.data), w.name, w.mode, len(w.data))
			}
		}
	}
	if n := len(build(t, image.Q35, 5000)); n > 5000+8192 {
		t.Errorf("an initramfs without large files is padded to %d bytes", n)
	}
}

func TestArchiveErrors(t *testing.T) {
	for name, add := range map[string]func(a *image.Archive){
		"a name from the root": func(a *image.Archive) { a.Dir("/dev", 0o755) },
		"no name":              func(a *image.Archive) { a.Symlink("", "x") },
		"a long name":          func(a *image.Archive) { a.Dir(strings.Repeat("x", 4096), 0o755) },
		"a zero in a name":     func(a *image.Archive) { a.Dir("a\x00b", 0o755) },
		"a huge file":          func(a *image.Archive) { a.File("x", 0o644, 1<<32, strings.NewReader("")) },
	} {
		a := image.NewArchive(new(bytes.Buffer))
		add(a)
		if err := a.Close(image.Q35); !errors.Is(err, image.ErrArchive) {
			t.Errorf("%s: %v, want ErrArchive", name, err)
		}
	}
	a := image.NewArchive(new(bytes.Buffer))
	if err := a.File("short", 0o644, 10, strings.NewReader("123")); err == nil {
		t.Error("a file that ended early was taken")
	}
}

func ExampleArchive() {
	var initramfs bytes.Buffer
	a := image.NewArchive(&initramfs)
	a.Dir("dev", 0o755)
	a.CharDevice("dev/console", 0o600, 5, 1)
	program := strings.NewReader("\x7fELF…")
	if err := a.File("init", fs.FileMode(0o755), program.Size(), program); err != nil {
		fmt.Println(err)
	}
	if err := a.Close(image.Q35); err != nil {
		fmt.Println(err)
	}
	fmt.Println(initramfs.Len())
	// Output: 488
}
