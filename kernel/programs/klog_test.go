package programs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/testenv"
)

// TestLog is of syslog(2), which a container may not call: what is wanted is
// what its manual says, with kernel.dmesg_restrict=0.
func TestLog(t *testing.T) {
	if os.Getenv("LEVERET_BOOT") == "" {
		t.Skip("boots machines: LEVERET_BOOT=1 go test ./kernel/programs [-smp N]")
	}
	binary := filepath.Join(t.TempDir(), "klog")
	err := compiler("gcc", "-O1", "-static", "testdata/klog.c", "-o")(t, binary)
	if errors.Is(err, errAbsent) {
		testenv.Absent(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := ending{Output: `size 1, unread 1, all 1
the last lines: 1 1 1
errors: -22 -22 -14 -22 -22
nothing: 0 0 0 0 0
cleared: 1 0
read in parts: 50 1 0
a wait ends: -4
another user: 0 1 -1 -1
`}
	if diff := cmp.Diff(want, onKernel(t, binary, program{path: "/init"})); diff != "" {
		t.Errorf("(-want +kernel):\n%s", diff)
	}
}
