package machine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A large file of the initramfs is mapped where it lies: what the weights of a
// model cost to read once is a fault for 2 MiB, and no memory.
func TestStream(t *testing.T) {
	const size = 269_060_552 // SmolLM2-135M's model.safetensors in bf16
	weights := filepath.Join(t.TempDir(), "weights")
	f, err := os.Create(weights)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{1}, size/64*64-64); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"lock"}} {
		r, console, err := run(t, machine.Config{Program: "../testdata/stream", Args: args, Memory: "1024M", Files: map[string]string{"data/weights": weights}})
		if err != nil || r.Status != 0 || !strings.Contains(console, "\nsum 1\n") {
			t.Fatalf("%v: status %d, %v\n%s", args, r.Status, err, console)
		}
		var taken int
		if line := regexp.MustCompile(`(?m)^taken .*$`).FindString(console); !scan(line, "taken %d KiB", &taken) || taken > 1024 {
			t.Errorf("%v: %q: memory for the data", args, line)
		}
		if args != nil {
			pages := (size + 4095) / 4096
			if want := fmt.Sprintf("\nresident %d of %d\n", pages, pages); !strings.Contains(console, want) {
				t.Errorf("no line %q\n%s", want, console)
			}
			continue
		}
		var faults, inPlace int
		line := regexp.MustCompile(`(?m)^faults .*$`).FindString(console)
		account := regexp.MustCompile(`inplace=\d+`).FindString(console)
		if !scan(line, "faults %d", &faults) || !scan(account, "inplace=%d", &inPlace) || faults == 0 || faults > 160 || inPlace < 120 {
			t.Errorf("%q, %q: want at most 160 faults, 120 of them or more in place", line, account)
		}
		t.Log(line, account)
	}
}

func scan(line, format string, to ...any) bool {
	n, err := fmt.Sscanf(line, format, to...)
	return err == nil && n == len(to)
}
