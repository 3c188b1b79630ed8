package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveret-os/leveret/bench/host"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// Exit statuses.
const (
	statusOK          = 0
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130
)

// options are the flags.
type options struct {
	selection
	planOptions
	limits limits

	tries                             int
	patience, limit                   time.Duration
	quick, fresh, again               bool
	onlyPrepare, onlyEstimate, report bool
	infer, models, out, python        string
}

// Main runs the subcommand with its arguments and returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == workerCommand {
		if err := worker(ctx, args[1], stdout); err != nil {
			fmt.Fprintln(stderr, "bench native worker:", err)
			return statusFailed
		}
		return statusOK
	}
	if len(args) == 2 && args[0] == spinCommand {
		fmt.Fprintln(stderr, "bench native spin:", spinner(args[1]))
		return statusFailed
	}
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusOK
	case err != nil:
		fmt.Fprintln(stderr, "bench native:", err)
		return statusUsage
	}
	r := &rig{options: o, stdout: stdout, stderr: stderr}
	err = r.run(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "bench native: interrupted; the same command goes on from here")
		return statusInterrupted
	case err != nil:
		fmt.Fprintln(stderr, "bench native:", err)
		return statusFailed
	}
	return statusOK
}

// parse reads the flags.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("bench native", flag.ContinueOnError)
	f.SetOutput(stderr)
	list := func(p *[]string, name, usage string) {
		f.Func(name, usage, func(s string) error {
			for _, x := range strings.Split(s, ",") {
				*p = append(*p, strings.TrimSpace(x))
			}
			return nil
		})
	}
	var threads []string
	list(&o.selection.engines, "engines", "engines, separated by commas (default all: "+listed()+")")
	list(&o.selection.forms, "forms", "forms or classes (32-bit, 16-bit, 8-bit, 4-bit; default all)")
	list(&threads, "threads", "numbers of threads (default 1 and all processors)")
	list(&o.modes, "modes", "our modes: mapped, huge (default both)")
	f.IntVar(&o.rounds, "rounds", 5, "repetitions of everything; slow engines have fewer")
	f.IntVar(&o.deepRounds, "deep", 2, "repetitions of what is not the short sample: the long context, the taken processor, drafts, eight sessions, the emulator")
	f.BoolVar(&o.avx2, "avx2", true, "our decoding with AVX2 forced")
	f.BoolVar(&o.emulated, "emulator", true, "our decoding under "+emulator+" as "+emulatedCPU)
	f.Uint64Var(&o.seed, "seed", 1, "of the order of samples")
	f.IntVar(&o.tries, "tries", 3, "tries of a sample that was disturbed")
	f.DurationVar(&o.patience, "wait", 20*time.Second, "how long a sample waits for a quiet machine")
	f.DurationVar(&o.limit, "limit", 0, "stop taking samples after this time and write what there is; 0: no limit")
	f.Float64Var(&o.limits.busy, "busy", 0.10, "processors that others may keep busy")
	f.Float64Var(&o.limits.spin, "spin", 1.15, "how much slower than ever the calibrated spin may be")
	f.BoolVar(&o.quick, "quick", false, "one round, one try, no waiting: shows that the rig works; results in a folder of their own")
	f.BoolVar(&o.fresh, "fresh", false, "begin anew instead of going on")
	f.BoolVar(&o.again, "again", false, "take disturbed and failed samples again")
	f.BoolVar(&o.onlyPrepare, "prepare", false, "only set up the peers")
	f.BoolVar(&o.onlyEstimate, "estimate", false, "only tell how long it takes")
	f.BoolVar(&o.report, "report", false, "only write table, CSV and plot from the rows that are there")
	f.StringVar(&o.infer, "infer", "", "our binary (default: built from ./cmd/infer)")
	f.StringVar(&o.models, "models", "", "folder of the checkpoint as ./test setup makes it (default $LEVERET_MODELS, or the user's cache)")
	f.StringVar(&o.out, "o", "", "folder of the results (default bench/results/native; with -quick bench/results/native-quick)")
	f.StringVar(&o.python, "python", "python3", "interpreter that the environments are made with")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, o.complete(threads)
}

// complete checks the flags and fills in what they left out.
func (o *options) complete(threads []string) error {
	for _, s := range threads {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 256 {
			return fmt.Errorf("-threads %s: expected 1 to 256", s)
		}
		if !slices.Contains(o.threads, n) {
			o.threads = append(o.threads, n)
		}
	}
	if len(o.threads) == 0 {
		o.threads = slices.Compact([]int{1, runtime.GOMAXPROCS(0)})
	}
	if len(o.modes) == 0 {
		o.modes = []string{modeMapped, modeHuge}
	}
	for _, m := range o.modes {
		if m != modeMapped && m != modeHuge {
			return fmt.Errorf("-modes %s: expected mapped or huge", m)
		}
	}
	if o.quick {
		o.rounds, o.deepRounds, o.tries, o.patience = 1, min(o.deepRounds, 1), 1, 0
	}
	switch {
	case o.rounds < 1 || o.rounds > 100:
		return fmt.Errorf("-rounds %d: expected 1 to 100", o.rounds)
	case o.deepRounds < 0 || o.tries < 1:
		return fmt.Errorf("-deep %d -tries %d: expected 0 or more, and 1 or more", o.deepRounds, o.tries)
	}
	if o.out == "" {
		o.out = filepath.Join("bench", "results", "native")
		if o.quick {
			o.out += "-quick"
		}
	}
	return nil
}

// A rig is one run of the subcommand.
type rig struct {
	*options
	stdout, stderr io.Writer
	taker          *taker
	flops          float64
}

func (r *rig) say(format string, args ...any) { fmt.Fprintf(r.stderr, format+"\n", args...) }

func (r *rig) run(ctx context.Context) error {
	picked, err := r.pick()
	if err != nil {
		return err
	}
	raw := filepath.Join(r.out, "raw.jsonl")
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	tools, err := newToolbox(filepath.Join(cache, "bench-native"), r.python, r.say)
	if err != nil {
		return err
	}
	if r.report {
		f, err := os.Open(raw)
		if err != nil {
			return err
		}
		defer f.Close()
		h, samples, _, err := readRows(f)
		if err != nil {
			return fmt.Errorf("%s: %w", raw, err)
		}
		return r.write(ctx, tools, h, samples)
	}
	if err := r.prepare(ctx, cache, tools); err != nil {
		return err
	}
	h, err := r.header(ctx)
	if err != nil {
		return err
	}
	store, err := openStore(raw, h, r.fresh)
	if err != nil {
		return err
	}
	defer store.close()
	left := store.missing(plan(picked, &r.planOptions), r.again)
	r.say("%s to take, about %v on a quiet machine; setting up what is missing comes first", plural(len(left), "sample"), estimate(left, store.samples).Round(time.Second))
	if r.onlyEstimate {
		return nil
	}
	// What peers need is made before anything is measured.
	left, err = r.setUp(ctx, store, left)
	if err != nil || r.onlyPrepare {
		return err
	}
	if err := r.measure(ctx, store, left); err != nil {
		return err
	}
	return r.write(ctx, tools, store.header, store.samples)
}

// cacheDir is the project's folder in the user's cache.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "leveret"), err
}

// prepare finds or builds our own side.
func (r *rig) prepare(ctx context.Context, cache string, tools *toolbox) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if r.infer == "" {
		r.infer = filepath.Join(tools.dir, "infer")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", r.infer, "github.com/leveret-os/leveret/cmd/infer")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/infer: %w\n%s", err, out)
		}
	}
	if r.models == "" {
		r.models = os.Getenv("LEVERET_MODELS")
	}
	if r.models == "" {
		r.models = filepath.Join(cache, "smollm2-135m-instruct")
	}
	library, err := newLibrary(r.models, r.infer, tools)
	if err != nil {
		return err
	}
	fsys := os.DirFS(filepath.Join(r.models, "f32"))
	tokenizer, err := bpe.Load(fsys)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(r.models, "f32", "config.json"))
	if err != nil {
		return err
	}
	config, err := llama.ParseConfig(b, nil)
	if err != nil {
		return err
	}
	r.flops = prefillFlops(config, prefill)
	r.taker = &taker{tries: r.tries, tools: tools, library: library, tokenizer: tokenizer, self: self, infer: r.infer, weights: weights(config)}
	return nil
}

// header describes this run.
func (r *rig) header(ctx context.Context) (header, error) {
	h := header{
		Rig: rigVersion, Began: time.Now().UTC().Truncate(time.Second), Processor: host.Processor(), Count: runtime.GOMAXPROCS(0),
		Kernel: kernelRelease(), Go: runtime.Version(), Quick: r.quick, Revision: "unknown",
	}
	f, err := os.Open(r.infer)
	if err != nil {
		return h, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return h, err
	}
	h.Infer = hex.EncodeToString(hash.Sum(nil))
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		h.Revision = strings.TrimSpace(string(out))
	}
	return h, nil
}

// setUp makes what each engine and form needs. Those that cannot be had are
// written down with the reason, and left out.
func (r *rig) setUp(ctx context.Context, s *store, left []item) ([]item, error) {
	refused := map[config]error{}
	for _, i := range left {
		c := config{Engine: i.Engine, Form: i.Form}
		if _, ok := refused[c]; ok {
			continue
		}
		_, err := r.taker.runner(ctx, engineNamed(i.Engine), i)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		refused[c] = err
		if err != nil {
			r.say("%s %s: %v", i.Engine, i.Form, err)
		}
	}
	var can []item
	for _, i := range left {
		err := refused[config{Engine: i.Engine, Form: i.Form}]
		if err == nil {
			can = append(can, i)
			continue
		}
		if err := s.add(sample{item: i, At: time.Now().UTC().Truncate(time.Second), Error: r.neutral(err.Error())}); err != nil {
			return nil, err
		}
	}
	return can, nil
}

// measure takes the samples.
func (r *rig) measure(ctx context.Context, s *store, left []item) error {
	if len(left) == 0 {
		return nil
	}
	r.taker.gate = newGate(r.limits, r.patience)
	start := time.Now()
	for n, i := range left {
		if r.limit > 0 && time.Since(start) >= r.limit {
			r.say("%v are over; %s left for another run", r.limit, plural(len(left)-n, "sample"))
			return nil
		}
		x, err := r.taker.take(ctx, i)
		if err != nil {
			return err
		}
		x.Error = r.neutral(x.Error)
		if i.Engine == machine && x.Error == "" {
			x.Values[keyPrefillFlops] = r.flops
		}
		if err := s.add(x); err != nil {
			return err
		}
		note := ""
		if x.Noisy {
			note = ", disturbed: " + x.Noise.String()
		}
		if x.Error != "" {
			note += ", failed: " + x.Error
		}
		r.say("%d/%d after %v: %v, %s, round %d: %.1f s%s", n+1, len(left), time.Since(start).Round(time.Second), i.config, i.Task, i.Round, x.Seconds, note)
	}
	return nil
}

// write writes the table, the CSV and the plot.
func (r *rig) write(ctx context.Context, tools *toolbox, h header, samples []sample) error {
	file := func(name string, write func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if err := file("table.md", func(w io.Writer) error { return writeTable(w, h, samples) }); err != nil {
		return err
	}
	if err := file("table.csv", func(w io.Writer) error { return writeCSV(w, samples) }); err != nil {
		return err
	}
	absolute, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := tools.plot(ctx, filepath.Join(absolute, "table.csv"), filepath.Join(absolute, "plot.svg")); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.say("no plot: %v", err)
	}
	r.say("results are in %s", r.out)
	for _, c := range newBoard(results(samples)).checks() {
		fmt.Fprintf(r.stdout, "%-14s  %s, %s, against %s: %s, goal %s\n", strings.ToUpper(c.verdict()), c.Claim, plural(c.Threads, "thread"), c.Against, cell(c.Got, 2), c.goal())
	}
	return nil
}
