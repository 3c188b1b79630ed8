//go:build !nommap

package safetensors

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sparse writes a checkpoint of one tensor "w" whose data is a hole in the file.
func sparse(t testing.TB, size int64) string {
	t.Helper()
	header := fmt.Sprintf(`{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, size, size)
	path := writeFile(t, t.TempDir(), "m.safetensors", raw(header))
	if err := os.Truncate(path, int64(8+len(header))+size); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	return path
}

// anonymous returns the process's anonymous memory in bytes.
func anonymous(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("no RssAnon")
	return 0
}

// Opening a file of 8 GiB copies nothing.
func TestOpenTakesNoMemory(t *testing.T) {
	size := int64(8 << 30)
	if math.MaxInt < size {
		t.Skip("the address space is too small")
	}
	path := sparse(t, size)
	debug.FreeOSMemory()
	before, heap := anonymous(t), totalAlloc()
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensor, err := f.Tensor("w")
	if err != nil || int64(len(tensor.Data)) != size {
		t.Fatal(err)
	}
	grown, allocated := anonymous(t)-before, totalAlloc()-heap
	if allocated >= 1<<20 {
		t.Errorf("%d bytes were allocated", allocated)
	}
	// Short mode runs under emulators, whose own memory is counted too.
	if grown >= 1<<20 && !testing.Short() {
		t.Errorf("anonymous memory grew by %d bytes", grown)
	}
	if tensor.Data[0] != 0 || tensor.Data[size-1] != 0 {
		t.Error("the data is not the file's")
	}
	runtime.KeepAlive(f)
}

// Data lies inside the mapping of the file, at the file's own offset.
func TestDataPointsIntoMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	sources := []Source{
		{Name: "a", DType: U8, Shape: []uint64{70_000}, Data: bytesUpTo(70_000)},
		{Name: "b", DType: U8, Shape: []uint64{3}, Data: []byte("abc")},
	}
	if err := Write(path, sources, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func() (*File, error){
		func() (*File, error) { return Open(path, nil) },
		func() (*File, error) {
			return OpenFS(os.DirFS(filepath.Dir(path)), filepath.Base(path), nil)
		},
	} {
		f, err := closing(t)(open())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range f.Names() {
			tensor, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			low, offset := mappingOf(t, path, tensor.Data)
			if got := int64(address(tensor.Data)-low) + offset; got != info.Offset {
				t.Errorf("%s lies at %d of the file, want %d", name, got, info.Offset)
			}
		}
	}
}

// mappingOf returns the address and file offset of the mapping of path that
// holds b.
func mappingOf(t *testing.T, path string, b []byte) (low uintptr, offset int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[5] != path {
			continue
		}
		var start, end uint64
		if _, err := fmt.Sscanf(fields[0]+" "+fields[2], "%x-%x %x", &start, &end, &offset); err != nil {
			t.Fatal(err)
		}
		if a := uint64(address(b)); start <= a && a+uint64(len(b)) <= end {
			if fields[1] != "r--p" {
				t.Errorf("the mapping is %s", fields[1])
			}
			return uintptr(start), offset
		}
	}
	t.Fatalf("no mapping of %s holds the data", path)
	return 0, 0
}

// A private copy outlives its file, and is aligned wherever the file put the
// data.
func TestPrivateSurvivesTruncation(t *testing.T) {
	content := bytesUpTo(5 << 20)
	header := fmt.Sprintf(`{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, len(content), len(content))
	for _, m := range []Memory{Private, Huge} {
		path := writeFile(t, t.TempDir(), "m.safetensors", raw(header, content...))
		f, err := closing(t)(Open(path, &Options{Memory: m}))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		tensor, err := f.Tensor("w")
		if err != nil || !bytes.Equal(tensor.Data, content) {
			t.Errorf("%v: the data changed, %v", m, err)
		}
		want := uintptr(os.Getpagesize())
		if m == Huge {
			want = hugePage
		}
		if address(tensor.Data)%want != 0 {
			t.Errorf("%v: data at %#x, want a multiple of %#x", m, address(tensor.Data), want)
		}
		u, err := f.Usage()
		if err != nil || u.Resident < int64(len(content)) || u.Anonymous < int64(len(content)) {
			t.Errorf("%v: %+v, %v", m, u, err)
		}
	}
}

// Huge gets huge pages where the system has them.
func TestHugePages(t *testing.T) {
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || bytes.Contains(enabled, []byte("[never]")) {
		t.Skip("this system has no transparent huge pages")
	}
	const size = 16 << 20
	f, err := closing(t)(Open(sparse(t, size), &Options{Memory: Huge}))
	if err != nil {
		t.Fatal(err)
	}
	u, err := f.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if u.HugePages%hugePage != 0 || u.HugePages > u.Resident || u.Resident < size {
		t.Errorf("%+v", u)
	}
	if u.HugePages == 0 {
		t.Skipf("the system gave no huge pages: %+v", u) // memory may be fragmented
	}
	t.Logf("%d of %d bytes in huge pages", u.HugePages, size)
}

// A Mapped file takes no anonymous memory even when it is all read.
func TestMappedUsage(t *testing.T) {
	const size = 4 << 20
	f, err := closing(t)(Open(sparse(t, size), nil))
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := f.Tensor("w")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(tensor.Data, []byte{0}); n != size {
		t.Fatal(n)
	}
	if u, err := f.Usage(); err != nil || u.Resident < size || u.Anonymous != 0 || u.Locked != 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestSmaps(t *testing.T) {
	const text = `00400000-00500000 r--p 00000000 fe:00 17 /x
Size:               1024 kB
Rss:                   8 kB
Anonymous:             4 kB
VmFlags: rd mr mw me
7f0000000000-7f0000200000 rw-p 00000000 00:00 0 [anon: Go: heap]
Rss:                 512 kB
AnonHugePages:      2048 kB
FilePmdMapped:         2 kB
Locked:               16 kB
`
	all, err := sumSmaps(bufio.NewScanner(strings.NewReader(text)), func(_, _ uint64) bool { return true })
	if want := (Usage{520 << 10, 4 << 10, 2050 << 10, 16 << 10}); err != nil || all != want {
		t.Errorf("%+v, %v, want %+v", all, err, want)
	}
	first, err := sumSmaps(bufio.NewScanner(strings.NewReader(text)), func(start, _ uint64) bool { return start == 0x400000 })
	if want := (Usage{8 << 10, 4 << 10, 0, 0}); err != nil || first != want {
		t.Errorf("%+v, %v, want %+v", first, err, want)
	}
	for _, bad := range []string{"nonsense", "1-2 r--p\nRss: many kB"} {
		if _, err := sumSmaps(bufio.NewScanner(strings.NewReader(bad)), func(_, _ uint64) bool { return true }); err == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}

func TestPin(t *testing.T) {
	const size = 1 << 20
	for _, m := range []Memory{Mapped, Private, Huge} {
		f, err := closing(t)(Open(sparse(t, size), &Options{Memory: m}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Pin()
		if err != nil {
			t.Fatal(err)
		}
		if errors.Is(p.Reason, ErrPinLimit) {
			t.Skip("this system lets the test lock no MiB: ", p.Reason)
		}
		page := int64(os.Getpagesize())
		if p.Reason != nil || p.Bytes != p.Wanted || p.Wanted < size || p.Wanted > size+4096 ||
			p.Pages != (p.Bytes+page-1)/page {
			t.Errorf("%v: %+v", m, p)
		}
		if u, err := f.Usage(); err != nil || u.Locked < size {
			t.Errorf("%v: %+v, %v", m, u, err)
		}
		again, err := f.Pin()
		if err != nil || again != p {
			t.Errorf("%v: pinned again: %+v, %v", m, again, err)
		}
	}
}

// Beyond the limit nothing is pinned, the reason names the limit, and the
// checkpoint works.
func TestPinBeyondLimit(t *testing.T) {
	const size, limit = 1 << 20, 128 << 10
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The capability that lifts the limit belongs to a thread. This one is
		// given up with it: the goroutine ends without unlocking its thread.
		runtime.LockOSThread()
		dropLockCapability(t)
		var old unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Error(err)
			return
		}
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			t.Error(err)
			return
		}
		defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old)
		for _, m := range []Memory{Mapped, Private} {
			checkPinLimit(t, m, size, limit)
		}
		checkPinPart(t, size)
	}()
	<-done
}

func dropLockCapability(t *testing.T) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Error(err)
		return
	}
	data[0].Effective &^= 1 << unix.CAP_IPC_LOCK
	if err := unix.Capset(&header, &data[0]); err != nil {
		t.Error(err)
	}
}

func checkPinLimit(t *testing.T, m Memory, size, limit int64) {
	f, err := Open(sparse(t, size), &Options{Memory: m})
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	p, err := f.Pin()
	if err != nil || p.Pages != 0 || p.Bytes != 0 || p.Wanted < size || !errors.Is(p.Reason, ErrPinLimit) ||
		!errors.Is(p.Reason, syscall.ENOMEM) || !strings.Contains(p.Reason.Error(), strconv.FormatInt(limit, 10)) {
		t.Errorf("%v: %+v, %v", m, p, err)
	}
	if u, err := f.Usage(); err != nil || u.Locked != 0 {
		t.Errorf("%v: a part stayed locked: %+v, %v", m, u, err)
	}
	if tensor, err := f.Tensor("w"); err != nil || bytes.Count(tensor.Data, []byte{0}) != int(size) {
		t.Errorf("%v: unusable after Pin: %v", m, err)
	}
}

// checkPinPart pins the shard that fits and not the one that does not.
func checkPinPart(t *testing.T, size int64) {
	dir := t.TempDir()
	sources := []Source{
		{Name: "large", DType: U8, Shape: []uint64{uint64(size)}, Data: make([]byte, size)},
		{Name: "small", DType: U8, Shape: []uint64{100}, Data: make([]byte, 100)},
	}
	if err := Write(filepath.Join(dir, singleName), sources, nil, &WriteOptions{MaxShard: size}); err != nil {
		t.Error(err)
		return
	}
	f, err := Open(dir, nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	p, err := f.Pin()
	if err != nil || p.Pages != 1 || p.Bytes < 100 || p.Bytes > 4096 || !errors.Is(p.Reason, ErrPinLimit) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Memory that this package did not map is not pinned.
func TestPinForeign(t *testing.T) {
	f, err := Parse(shardFile(t, nil, "a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Pin()
	if err != nil || p.Bytes != 0 || p.Wanted != 1 || !errors.Is(p.Reason, ErrNotMapped) {
		t.Errorf("%+v, %v", p, err)
	}
	if u, err := f.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("%+v, %v", u, err)
	}
	empty, err := Parse(raw("{}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := empty.Pin(); err != nil || p != (Pinned{}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Close unmaps: nothing of the file is left in the address space.
func TestCloseUnmaps(t *testing.T) {
	path := sparse(t, 1<<20)
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := mappings(t, path); n == 0 {
		t.Error("the file is not mapped")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if n := mappings(t, path); n != 0 {
		t.Errorf("%d mappings are left", n)
	}
}

// A refused index leaves nothing of its shards mapped or open.
func TestRefusedIndexUnmaps(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "m-1.safetensors", shardFile(t, nil, "a"))
	writeFile(t, dir, indexName, []byte(`{"weight_map":{"a":"m-1.safetensors","b":"m-2.safetensors"}}`))
	files := openFiles(t)
	if _, err := Open(dir, nil); !errors.Is(err, ErrMissingShard) {
		t.Fatal(err)
	}
	if n := mappings(t, filepath.Join(dir, "m-1.safetensors")); n != 0 {
		t.Errorf("%d mappings are left", n)
	}
	if n := openFiles(t); n != files {
		t.Errorf("%d open files, %d before", n, files)
	}
}

// A failing Write leaves no file open.
func TestFailedWriteCloses(t *testing.T) {
	files := openFiles(t)
	source := Source{Name: "t", DType: U8, Shape: []uint64{4}, Write: func(io.Writer) error { return io.ErrClosedPipe }}
	if err := Write(filepath.Join(t.TempDir(), singleName), []Source{source}, nil, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if n := openFiles(t); n != files {
		t.Errorf("%d open files, %d before", n, files)
	}
}

func mappings(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), path)
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// A pipe without a writer does not hang Open, as a file or as a shard.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "m-1.safetensors"), 0o600); err != nil {
		t.Skip(err)
	}
	writeFile(t, dir, indexName, []byte(`{"weight_map":{"a":"m-1.safetensors"}}`))
	done := make(chan error, 2)
	go func() {
		_, err := Open(dir, nil)
		done <- err
		_, err = Open(filepath.Join(dir, "m-1.safetensors"), nil)
		done <- err
	}()
	for range 2 {
		select {
		case err := <-done:
			if !errors.Is(err, ErrNotRegular) {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("Open waits for a writer")
		}
	}
}

// More anonymous memory than there is address space is an error.
func TestPrivateTooLarge(t *testing.T) {
	const size = 1 << 50
	header := fmt.Sprintf(`{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}`, int64(size), int64(size))
	r := spaces{raw(header)}
	total := int64(8+len(header)) + size
	for _, m := range []Memory{Private, Huge} {
		if _, err := NewReader(r, total, &Options{Memory: m}); err == nil {
			t.Errorf("%v: accepted", m)
		}
	}
	f, err := NewReader(r, total, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Tensor("w"); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	reader, err := f.Reader("w")
	if err != nil {
		t.Fatal(err)
	}
	var last [1]byte
	if _, err := reader.ReadAt(last[:], size-1); err != nil || last[0] != ' ' {
		t.Error(last, err)
	}
	if _, err := io.CopyN(io.Discard, reader, 1<<20); err != nil {
		t.Error(err)
	}
}
