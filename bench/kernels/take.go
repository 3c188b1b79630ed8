package kernels

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A kernel is something to boot.
type kernel struct {
	name  string
	file  string // "": ours
	words string // more words for its command line
}

// A plan is what a rig's call asks for.
type plan struct {
	kernels   []kernel
	clocks    []clock
	workloads []string // none: all
	rounds    int
	samples   int // of each workload in one run
	memory    string
	seed      uint64
}

// icountKHz is the TSC's rate when time is counted in instructions: one a
// nanosecond.
const icountKHz = 1_000_000

// take boots every kernel of every round and hands on what each run gave.
func (p plan) take(ctx context.Context, emit func(run)) error {
	rng := rand.New(rand.NewPCG(p.seed, 0))
	for round := range p.rounds {
		for _, c := range p.clocks {
			order := rng.Perm(len(p.kernels))
			for _, i := range order {
				emit(p.one(ctx, p.kernels[i], c, round))
				if err := ctx.Err(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// one is a single boot.
func (p plan) one(ctx context.Context, k kernel, c clock, round int) run {
	r := run{Kernel: k.name, Clock: c, Round: round}
	khz, err := tscKHz()
	if c == instructions {
		khz, err = icountKHz, nil
	}
	if err != nil {
		r.Failed = err.Error()
		return r
	}
	words := []string{"panic=-1", "quiet", "tsc=reliable", "GODEBUG=asyncpreemptoff=1", k.words, fmt.Sprintf("tsc_early_khz=%d", khz)}
	result, err := machine.Run(ctx, machine.Config{
		Kernel: k.file, Program: "./bench/workload",
		Args:   append([]string{"-n", strconv.Itoa(p.samples), "-thp", "madvise"}, p.workloads...),
		Memory: p.memory, ICount: c == instructions,
		Append: strings.Join(words, " "), Timeout: 10 * time.Minute,
	})
	// Mainline ends by the panic of a kernel whose init has left, so what counts
	// is that the program came to its end.
	r.Console = result.Console
	if parseErr := r.parse(string(result.Console)); parseErr != nil {
		r.Failed = parseErr.Error()
		if err != nil {
			r.Failed += "; " + err.Error()
		}
	}
	return r
}

// tscKHz is the rate of the host's time stamp counter as the kernel found it,
// which is the guest's too.
func tscKHz() (int, error) {
	const file = "/proc/cpuinfo"
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "cpu MHz" {
			mhz, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int(mhz * 1000), err
		}
	}
	return 0, fmt.Errorf("%s names no cpu MHz (%s/%s)", file, runtime.GOOS, runtime.GOARCH)
}
