package kernels

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/leveret-os/leveret/kernel/machine"
)

// A plan is what a rig's call asks for.
type plan struct {
	kernels   []kernel // ours first
	clocks    []clock
	workloads []string // none: all
	rounds    int
	boots     int    // boots of each kernel that do nothing more
	samples   int    // of each workload in one run
	memory    string // of the machine
	model     string // folder of weights; "": no row of them
	seed      uint64
	built     built
}

// A job is one boot that a plan has.
type job struct {
	kernel kernel
	clock  clock
	round  int
	kind   kind
}

// A kind of job is what init is there for.
type kind string

const (
	workloads kind = "workloads"
	boot      kind = "boot"  // to say its first line
	weights   kind = "model" // to generate a few tokens
)

// Rounds that count instructions repeat within half a percent: our kernel and
// the first reference have two, the others one.
func countRounds(i int) int {
	if i <= 1 {
		return 2
	}
	return 1
}

// jobs is everything in the order of its turn: rounds of all kernels, each
// round shuffled.
func (p plan) jobs() []job {
	rng := rand.New(rand.NewPCG(p.seed, 0))
	var jobs []job
	round := func(n int, c clock, k kind, among []kernel) {
		for _, i := range rng.Perm(len(among)) {
			jobs = append(jobs, job{among[i], c, n, k})
		}
	}
	for _, c := range p.clocks {
		for n := range p.rounds {
			var among []kernel
			for i, k := range p.kernels {
				if c == wall || n < countRounds(i) {
					among = append(among, k)
				}
			}
			round(n, c, workloads, among)
		}
		if c != wall {
			continue
		}
		for n := range p.boots {
			round(n, c, boot, p.kernels)
		}
		if p.model != "" {
			round(0, c, weights, p.kernels[:min(2, len(p.kernels))])
		}
	}
	return jobs
}

// icountKHz is the TSC's rate when time is counted in instructions: one a
// nanosecond.
const icountKHz = 1_000_000

// take does all jobs and hands on what each gave.
func (p plan) take(ctx context.Context, jobs []job, emit func(run)) error {
	for _, j := range jobs {
		emit(p.one(ctx, j))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// one is a single boot.
func (p plan) one(ctx context.Context, j job) run {
	r := run{Kernel: j.kernel.name, Clock: j.clock, Round: j.round, Kind: j.kind}
	khz, err := tscKHz()
	if j.clock == instructions {
		khz, err = icountKHz, nil
	}
	if err != nil {
		r.Failed = err.Error()
		return r
	}
	words := []string{"panic=-1", "quiet", "tsc=reliable", "GODEBUG=asyncpreemptoff=1", j.kernel.words, fmt.Sprintf("tsc_early_khz=%d", khz)}
	c := machine.Config{
		Kernel: j.kernel.file, Program: p.built.workload,
		Memory: p.memory, ICount: j.clock == instructions,
		Append: strings.Join(words, " "), Timeout: 10 * time.Minute,
	}
	switch j.kind {
	case workloads:
		c.Args = append([]string{"-n", strconv.Itoa(p.samples), "-thp", "madvise"}, p.workloads...)
	case boot:
		c.Args = []string{"-n", "1", "getppid"}
	case weights:
		c.Program, c.Files = p.built.infer, map[string]string{"model": p.model}
		c.Args = []string{"run", "-m", "/model", "-p", "Paris", "-n", "3"}
	}
	result, err := machine.Run(ctx, c)
	r.Console = result.Console
	if j.kind == weights {
		r.Samples = map[string][]float64{"model-ram": {mebibytes(result.PeakRAM)}}
		r.Units = map[string]string{"model-ram": "MiB"}
		if err == nil && result.Status != 0 {
			err = fmt.Errorf("infer ended with status %d", result.Status)
		}
		if err != nil {
			r.Failed = err.Error()
		}
		return r
	}
	// Mainline ends by the panic of a kernel whose init has left, so what counts
	// is that the program came to its end.
	if parseErr := r.parse(string(result.Console)); parseErr != nil {
		r.Failed = parseErr.Error()
		if err != nil {
			r.Failed += "; " + err.Error()
		}
	}
	if j.kind == boot {
		r.Samples = map[string][]float64{
			"boot": {float64(result.FirstOutput.Microseconds()) / 1e3}, "boot-ram": {mebibytes(result.FirstRAM)},
		}
		r.Units = map[string]string{"boot": "ms", "boot-ram": "MiB"}
	}
	return r
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
