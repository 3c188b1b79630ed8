package calls

import (
	"flag"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/object"
	"github.com/leveret-os/leveret/kernel/services/usermem"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

var hostileCalls = flag.Int("calls.hostile", 200_000, "calls of the hostile test")

// TestHostile makes calls whose arguments are anything: none may panic, or
// return what is neither a value nor an errno value.
func TestHostile(t *testing.T) {
	k, p, c := newHost()
	k.NS.Root().Inode().FS.MaxInodes = 500
	k.Store.(*object.Heap).MaxPages = 2000
	k.MaxFiles = 200
	own := &usermem.Own{B: make([]byte, 1<<17)}
	c.Mem = own
	r := rand.New(rand.NewPCG(*randomSeed, 3))
	g := &generator{r}
	var known []uint64
	for nr, f := range Table {
		if f != nil {
			known = append(known, uint64(nr))
		}
	}
	arg := func() uint64 {
		switch r.IntN(15) {
		case 0, 1, 2:
			return uint64(r.IntN(12))
		case 3, 4, 5:
			at := uint64(r.IntN(64)) * 512
			copy(own.B[at:], g.path()+"\x00")
			return at
		case 6:
			at := uint64(r.IntN(64)) * 512
			for i := range 32 {
				own.B[int(at)+i] = byte(r.Uint32())
			}
			return at
		case 7:
			return 1 << r.IntN(64)
		case 8:
			return ^uint64(0) - uint64(r.IntN(200))
		case 9:
			return uint64(r.IntN(1 << 17))
		case 10:
			return r.Uint64()
		case 11, 12: // half of a register that an int argument does not use
			return uint64(r.IntN(1100)) | r.Uint64()<<32
		case 13: // sizes beside the bounds
			return pick(g, uint64(1)<<16, 1<<31, 1<<32, 1<<40, 1<<63, usermem.MaxTransfer, usermem.Top) + uint64(r.IntN(9)) - 4
		}
		return uint64(uint32(pick(g, unix.O_CREAT, unix.O_RDWR|unix.O_CREAT, unix.O_TMPFILE|unix.O_RDWR, unix.O_PATH, unix.O_DIRECTORY, unix.AT_FDCWD, unix.AT_EMPTY_PATH)))
	}
	ok, failed := map[uint64]int{}, map[uint64]int{}
	for range *hostileCalls {
		q := abi.Request{PID: 1, TID: 1}
		q.AX = known[r.IntN(len(known))]
		q.DI, q.SI, q.DX, q.R10, q.R8, q.R9 = arg(), arg(), arg(), arg(), arg(), arg()
		if q.AX == unix.SYS_CLOSE_RANGE && r.IntN(20) != 0 || q.AX == unix.SYS_SETUID || q.AX == unix.SYS_CHROOT {
			continue
		}
		if r.IntN(8) == 0 { // root again, whatever calls gave away
			p.Update(func(who *vfs.Caller) { who.Cred = new(vfs.Cred) })
		}
		waits, _ := c.Serve(&q, p)
		switch {
		case waits:
		case q.Result < -4095 || q.Result == -int64(unix.ENOSYS):
			t.Fatalf("call %d(%#x, %#x, %#x, %#x, %#x, %#x) = %d", q.AX, q.DI, q.SI, q.DX, q.R10, q.R8, q.R9, q.Result)
		case q.Result < 0:
			failed[q.AX]++
		default:
			ok[q.AX]++
		}
	}
	for _, nr := range known {
		if failed[nr]+ok[nr] == 0 && *hostileCalls >= 100_000 && nr != unix.SYS_SETUID && nr != unix.SYS_CHROOT {
			t.Errorf("call %d never ran", nr)
		}
	}
	p.Files().CloseAll(false, p)
	if n := k.files.Load(); n != 0 {
		t.Errorf("%d open files are still counted after all were closed", n)
	}
}
