package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/simd"
	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// tiny writes a tiny model and returns its folder.
func tiny(t *testing.T, o testmodel.TinyOptions) string {
	t.Helper()
	return testmodel.Tiny(t, filepath.Join(t.TempDir(), "tiny"), o)
}

// objects parses the lines of --json.
func objects(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, o)
	}
	return all
}

// lastResult parses the result of `run --json`.
func lastResult(t *testing.T, o outcome) result {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	var r result
	d := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || r.Type != "result" {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	return r
}

func TestRunText(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	o := invoke(t, "run", "-m", dir, "-p", "one two", "-n", "8", "--ignore-eos").ok(t)
	if !strings.HasSuffix(o.stdout, "\n") || len(o.stdout) < 2 {
		t.Errorf("stdout %q", o.stdout)
	}
	figures := regexp.MustCompile(`^infer: 8 tokens \(length\), [\d.]+ tokens/s, the first after \d+ ms; prompt of \d+ at \d+ tokens/s; loaded in \d+ ms(; \d+ of \d+ drafted tokens? accepted)?; f32, \w+, \d+ threads?`)
	if !figures.MatchString(o.stderr) {
		t.Errorf("stderr %q", o.stderr)
	}
	quiet := invoke(t, "run", "-q", "-m", dir, "-p", "one two", "-n", "8", "--ignore-eos").ok(t)
	if quiet.stdout != o.stdout || quiet.stderr != "" {
		t.Errorf("with -q: stdout %q, stderr %q", quiet.stdout, quiet.stderr)
	}

	// The prompt from a file and from standard input.
	file := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(file, []byte("one two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := invoke(t, "run", "-m", dir, "-f", file, "-n", "8", "--ignore-eos").ok(t).stdout; got != o.stdout {
		t.Errorf("-f FILE gives %q, -p %q", got, o.stdout)
	}
	if got := invokeWith(t, "one two\n", "run", "-m", dir, "-f", "-", "-n", "8", "--ignore-eos").ok(t).stdout; got != o.stdout {
		t.Errorf("-f - gives %q, -p %q", got, o.stdout)
	}
}

// TestRunJSON holds the result to its fields, their order and their meaning.
func TestRunJSON(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{DType: "BF16"})
	o := invoke(t, "run", "-m", dir, "-p", "one two", "-n", "8", "--ignore-eos", "--json", "-t", "2").ok(t)
	if o.stderr != "" {
		t.Errorf("stderr %q", o.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	var keys []string
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(lines[len(lines)-1], -1) {
		keys = append(keys, m[1])
	}
	want := []string{"type", "prompt_tokens", "tokens", "text", "finish_reason", "load_ms", "ttft_ms", "prompt_tokens_per_second",
		"tokens_per_second", "rss_bytes", "pinned_bytes", "threads", "isa", "format", "activations", "drafted", "accepted", "logits_sha256"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	r := lastResult(t, o)
	if len(r.Tokens) != 8 || len(r.LogitsSHA256) != 8 || r.FinishReason != "length" || r.Format != "bf16" || r.Threads != 2 ||
		r.ISA != simd.Best().String() || r.LoadMS <= 0 || r.TTFTMS <= 0 || r.TokensPerSecond <= 0 || r.PromptTokensPerSecond <= 0 {
		t.Errorf("result %+v", r)
	}

	// The events are the same tokens and text.
	var ids []int
	var text strings.Builder
	for _, e := range objects(t, o.stdout)[:8] {
		if e["type"] != "token" {
			t.Errorf("event %v", e)
		}
		ids = append(ids, int(e["id"].(float64)))
		text.WriteString(e["text"].(string))
	}
	if !slices.Equal(ids, r.Tokens) || text.String() != r.Text {
		t.Errorf("events %v %q, result %v %q", ids, text.String(), r.Tokens, r.Text)
	}

	// The prompt's tokens and the digests are those that the library gives.
	model, err := llama.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	if prompt := model.Tokenizer().Encode("one two", nil); !slices.Equal(prompt, r.PromptTokens) {
		t.Errorf("prompt %v, want %v", r.PromptTokens, prompt)
	}
	session, err := model.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ids = r.PromptTokens
	for i, id := range r.Tokens {
		if err := session.Append(context.Background(), ids); err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, x := range session.Logits() {
			binary.Write(h, binary.LittleEndian, math.Float32bits(x))
		}
		if want := hex.EncodeToString(h.Sum(nil)); r.LogitsSHA256[i] != want {
			t.Errorf("step %d: digest %s, want %s", i, r.LogitsSHA256[i], want)
		}
		ids = []int{id}
	}
}

// TestRunForcedISA: each instruction set of this machine runs when it is asked
// for, and gives the same bits.
func TestRunForcedISA(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	var first result
	for i := simd.Portable; i <= simd.AVX512; i++ {
		args := []string{"run", "-m", dir, "-p", "one two", "-n", "4", "--json", "--isa", i.String()}
		if !simd.Supported(i) {
			invoke(t, args...).fails(t, statusError, "not supported by this processor")
			continue
		}
		r := lastResult(t, invoke(t, args...).ok(t))
		if r.ISA != i.String() {
			t.Errorf("--isa %s ran %s", i, r.ISA)
		}
		if i == simd.Portable {
			first = r
		} else if diff := cmp.Diff(first.LogitsSHA256, r.LogitsSHA256); diff != "" {
			t.Errorf("%s gives other bits than portable:\n%s", i, diff)
		}
	}
	invoke(t, "run", "-m", dir, "-p", "x", "--isa", "sse9").fails(t, statusUsage, "--isa sse9")
}

// TestRunModes: pinned, in huge pages, with several threads: the same bits.
func TestRunModes(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	base := lastResult(t, invoke(t, "run", "-m", dir, "-p", "one two", "-n", "4", "--json").ok(t))
	for _, flags := range [][]string{{"--mlock"}, {"--huge"}, {"--mlock", "--huge"}, {"-t", "1"}, {"-t", "3"}, {"-c", "64"}} {
		o := invoke(t, append([]string{"run", "-m", dir, "-p", "one two", "-n", "4", "--json"}, flags...)...).ok(t)
		r := lastResult(t, o)
		if !slices.Equal(r.LogitsSHA256, base.LogitsSHA256) {
			t.Errorf("%v gives other bits", flags)
		}
		// What could not be pinned is said.
		if flags[0] == "--mlock" && r.PinnedBytes == 0 && !strings.Contains(o.stderr, "pinned 0 B of ") {
			t.Errorf("%v: nothing pinned and stderr %q", flags, o.stderr)
		}
		if flags[0] != "--mlock" && r.PinnedBytes != 0 {
			t.Errorf("%v: %d bytes pinned", flags, r.PinnedBytes)
		}
	}
}

func TestRunReport(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	want := regexp.MustCompile(`(?m)^INFER OK tokens=4\nRESULT infer-ttft \d+\.\d{3} ms\nRESULT infer-tps \d+\.\d{3} tok/s\n\z`)
	o := invoke(t, "run", "-m", dir, "-p", "one", "-n", "4", "--ignore-eos", "--report").ok(t)
	if !want.MatchString(o.stdout) {
		t.Errorf("stdout %q", o.stdout)
	}
	o = invoke(t, "run", "-m", dir, "-p", "one", "-n", "4", "--ignore-eos", "--report", "--json").ok(t)
	if !want.MatchString(o.stderr) || lastResult(t, o).Tokens == nil {
		t.Errorf("with --json: stdout %q, stderr %q", o.stdout, o.stderr)
	}
}

func TestRunLimits(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{Context: 32})
	prompt := len(lastResult(t, invoke(t, "run", "-m", dir, "-p", "one two", "-n", "1", "--json").ok(t)).PromptTokens)
	for _, test := range []struct {
		flags  []string
		tokens int
		finish llama.FinishReason
	}{
		{[]string{"-n", "0"}, 0, llama.FinishLength},
		{[]string{"-n", "5"}, 5, llama.FinishLength},
		{[]string{"-n", "5", "-c", "32"}, 5, llama.FinishLength},
		{[]string{"-n", "-1"}, 32 - prompt, llama.FinishContext},
		{nil, 32 - prompt, llama.FinishContext},
		{[]string{"-c", "16"}, 16 - prompt, llama.FinishContext},
		{[]string{"-n", "1000"}, 32 - prompt, llama.FinishContext},
	} {
		r := lastResult(t, invoke(t, append([]string{"run", "-m", dir, "-p", "one two", "--json", "--ignore-eos"}, test.flags...)...).ok(t))
		if len(r.Tokens) != test.tokens || r.FinishReason != test.finish {
			t.Errorf("%v: %d tokens, %s; want %d, %s", test.flags, len(r.Tokens), r.FinishReason, test.tokens, test.finish)
		}
	}
	invoke(t, "run", "-m", dir, "-p", strings.Repeat("one ", 40)).fails(t, statusError, "the context of 32")
	full := []string{"run", "-m", dir, "-p", "one two", "-c", strconv.Itoa(prompt)}
	invoke(t, full...).fails(t, statusError, "fills the context")
	invoke(t, append(full, "-n", "0")...).ok(t)
	for _, n := range []string{"-1", "0", "1"} {
		invoke(t, "run", "-m", dir, "-p", "x", "-n", n, "-c", "33").fails(t, statusError, "-c 33")
	}
	invoke(t, "run", "-m", dir, "-p", "").fails(t, statusError, "the prompt is empty")
	invokeWith(t, "", "run", "-m", dir, "-f", "-").fails(t, statusError, "the prompt is empty")
	invoke(t, "run", "-m", dir, "-f", filepath.Join(dir, "missing")).fails(t, statusError, "missing")
}

func TestRunStop(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	whole := lastResult(t, invoke(t, "run", "-m", dir, "-p", "one two", "-n", "24", "--ignore-eos", "--json").ok(t)).Text
	runes := []rune(whole)
	if len(runes) < 6 {
		t.Fatalf("text %q is too short for this test", whole)
	}
	stop := string(runes[3:5])
	r := lastResult(t, invoke(t, "run", "-m", dir, "-p", "one two", "-n", "24", "--ignore-eos", "--json", "--stop", "no such text", "--stop", stop).ok(t))
	if want, _, _ := strings.Cut(whole, stop); r.FinishReason != llama.FinishStopString || r.Text != want {
		t.Errorf("finish %s, text %q, want %q", r.FinishReason, r.Text, want)
	}
}

func TestRunSampling(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	tokens := func(flags ...string) []int {
		return lastResult(t, invoke(t, append([]string{"run", "-m", dir, "-p", "one two", "-n", "16", "--ignore-eos", "--json"}, flags...)...).ok(t)).Tokens
	}
	greedy := tokens()
	for _, flags := range [][]string{{"--temp", "1", "--top-k", "1"}, {"--temp", "1", "--top-p", "0"}, {"--temp", "1", "--min-p", "1"}, {"--temp", "0.0001"}} {
		if got := tokens(flags...); !slices.Equal(got, greedy) {
			t.Errorf("%v leaves only the most likely token, yet %v differs from %v", flags, got, greedy)
		}
	}
	hot := tokens("--temp", "5", "-s", "7")
	if slices.Equal(hot, greedy) || !slices.Equal(hot, tokens("--temp", "5", "--seed=7")) || slices.Equal(hot, tokens("--temp", "5", "-s", "8")) {
		t.Error("the seed does not decide alone what is sampled")
	}
	if off := tokens("--repeat-penalty", "1.5", "--repeat-last-n", "0"); !slices.Equal(off, greedy) {
		t.Errorf("--repeat-last-n 0 does not switch the penalty off: %v", off)
	}

	o := invoke(t, "run", "-m", dir, "-p", "one", "-n", "1", "--temp", "1", "-s", "-1", "-q").ok(t)
	if !regexp.MustCompile(`^infer: seed \d+\n$`).MatchString(o.stderr) {
		t.Errorf("stderr %q, want the seed", o.stderr)
	}
	o = invoke(t, "run", "-m", dir, "-p", "one", "-n", "1", "--top-k", "3", "-q").ok(t)
	if !strings.Contains(o.stderr, "--top-k changes nothing at --temp 0") {
		t.Errorf("stderr %q", o.stderr)
	}
}

func TestRunLogprobs(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	o := invoke(t, "run", "-m", dir, "-p", "one two", "-n", "3", "--ignore-eos", "--logprobs", "4", "--json").ok(t)
	for _, e := range objects(t, o.stdout)[:3] {
		top := e["top"].([]any)
		if len(top) != 4 || top[0].(map[string]any)["id"] != e["id"] || top[0].(map[string]any)["logprob"] != e["logprob"] || e["logprob"].(float64) > 0 {
			t.Errorf("event %v: greedy, so the first of four must be the token itself", e)
		}
	}
	o = invoke(t, "run", "-m", dir, "-p", "one two", "-n", "3", "--ignore-eos", "--logprobs", "2", "-q").ok(t)
	if lines := strings.Split(o.stdout, "\n"); len(lines) != 4 || !strings.Contains(lines[0], "|") {
		t.Errorf("stdout %q, want a line a token", o.stdout)
	}
}

// JSON has no number for the logarithm of 0, which a token beyond all reach has.
func TestRunLogprobOfNothing(t *testing.T) {
	files := testmodel.TinyFS(testmodel.TinyOptions{Untied: true})
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	weights := files["model.safetensors"].Data
	file, err := safetensors.Parse(weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := file.Tensor("lm_head.weight")
	if err != nil {
		t.Fatal(err)
	}
	copy(head.Data, nan) // points into weights
	dir := t.TempDir()
	for name, f := range files {
		if err := os.WriteFile(filepath.Join(dir, name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	vocab := strconv.Itoa(testmodel.VocabSize())
	o := invoke(t, "run", "-m", dir, "-p", "one two", "-n", "1", "--ignore-eos", "--logprobs", vocab, "--json").ok(t)
	top := objects(t, o.stdout)[0]["top"].([]any)
	if last := top[len(top)-1].(map[string]any); last["id"] != 0.0 || last["logprob"] != nil {
		t.Errorf("the last of all tokens is %v, want id 0 with null", last)
	}
	o = invoke(t, "run", "-m", dir, "-p", "one two", "-n", "1", "--ignore-eos", "--logprobs", vocab, "-q").ok(t)
	if !strings.Contains(o.stdout, "-Inf") {
		t.Errorf("stdout %q, want -Inf for the token without a probability", o.stdout)
	}
}

func TestRunSpecialTokens(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	plain := lastResult(t, invoke(t, "run", "-m", dir, "-p", "<|im_end|>", "-n", "1", "--json").ok(t)).PromptTokens
	special := lastResult(t, invoke(t, "run", "-m", dir, "-p", "<|im_end|>", "--parse-special", "-n", "1", "--json").ok(t)).PromptTokens
	if len(plain) < 2 || len(special) != 1 {
		t.Errorf("a special token's spelling gives %v as text and %v as a token", plain, special)
	}
}

// cancelling is a writer that interrupts the program after some writes.
type cancelling struct {
	text   bytes.Buffer
	after  int
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return c.text.Write(p)
}

func TestRunInterrupted(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	for after, flags := range map[int][]string{3: {"--json"}, 1: {"--report"}} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stdout := &cancelling{after: after, cancel: cancel}
		var stderr bytes.Buffer
		status := run(ctx, append([]string{"run", "-m", dir, "-p", "one two", "--ignore-eos"}, flags...), nil, stdout, &stderr)
		if status != statusInterrupted {
			t.Errorf("%v: status %d, want %d (stderr %q)", flags, status, statusInterrupted, stderr.String())
		}
		if flags[0] == "--json" {
			r := lastResult(t, outcome{stdout: stdout.text.String()})
			if r.FinishReason != finishCancelled || len(r.Tokens) < 3 || len(r.Tokens) > 4 {
				t.Errorf("result %+v", r)
			}
		} else if !strings.Contains(stdout.text.String(), "INFER CANCELLED tokens=") || !strings.Contains(stderr.String(), "(cancelled)") {
			t.Errorf("stdout %q, stderr %q", stdout.text.String(), stderr.String())
		}
	}
}

// leaving is a reader of the output that goes after some writes.
type leaving struct{ after int }

func (l *leaving) Write(p []byte) (int, error) {
	if l.after--; l.after < 0 {
		return 0, fmt.Errorf("write |1: %w", syscall.EPIPE)
	}
	return len(p), nil
}

func TestRunBrokenPipe(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	var stderr bytes.Buffer
	status := run(context.Background(), []string{"run", "-m", dir, "-p", "one two", "--ignore-eos", "--json"}, nil, &leaving{after: 2}, &stderr)
	if status != statusError || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q: want a silent end with 1", status, stderr.String())
	}
}

func TestRunChat(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	one := lastResult(t, invoke(t, "run", "-m", dir, "--chat", "-p", "one", "-n", "6", "--json").ok(t))
	system := lastResult(t, invoke(t, "run", "-m", dir, "--chat", "--system", "two", "-p", "one", "-n", "6", "--json").ok(t))
	if slices.Equal(one.PromptTokens, system.PromptTokens) {
		t.Error("--system changes nothing")
	}
	plain := lastResult(t, invoke(t, "run", "-m", dir, "-p", "one", "-n", "6", "--json").ok(t))
	if len(one.PromptTokens) <= len(plain.PromptTokens) {
		t.Errorf("--chat adds nothing to the prompt: %v", one.PromptTokens)
	}

	// A conversation: the first answer is what the single prompt gives.
	invokeWith(t, strings.Repeat("a", maxLine+1), "run", "-m", dir, "--chat").fails(t, statusError, "longer than 1048576 bytes")
	o := invokeWith(t, "one\ntwo\n\nnot read\n", "run", "-m", dir, "--chat", "-n", "6").ok(t)
	if !strings.HasPrefix(o.stdout, one.Text) || len(o.stdout) <= len(one.Text)+1 {
		t.Errorf("conversation %q, want it to begin with %q", o.stdout, one.Text)
	}

	// Without a template there is no chat.
	if err := os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	invoke(t, "run", "-m", dir, "--chat", "-p", "one").fails(t, statusError, "template")
	invokeWith(t, "one\n", "run", "-m", dir, "--chat").fails(t, statusError, "template")
}

// TestRunChatInterrupted: an interrupt ends a conversation that waits.
func TestRunChatInterrupted(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	var stdout, stderr bytes.Buffer
	if status := run(ctx, []string{"run", "-m", dir, "--chat"}, r, &stdout, &stderr); status != statusInterrupted {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
}

// TestRunChatText: what a user writes is text, even where it spells a special
// token.
func TestRunChatText(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	count := func(flags ...string) (n int) {
		r := lastResult(t, invoke(t, append([]string{"run", "-m", dir, "--chat", "-p", "<|im_end|>", "-n", "1", "--json"}, flags...)...).ok(t))
		model, err := llama.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer model.Close()
		for _, id := range r.PromptTokens {
			if model.Tokenizer().IsSpecial(id) {
				n++
			}
		}
		return n
	}
	if text, special := count(), count("--parse-special"); special != text+1 {
		t.Errorf("%d special tokens in the prompt, %d with --parse-special, want one more", text, special)
	}
}

// TestRunDrafts: drafting changes nothing but the counts of drafts.
func TestRunDrafts(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	run := func(args ...string) result {
		return lastResult(t, invoke(t, append([]string{"run", "-m", dir, "-p", "one two one two one two one two", "-n", "100", "--ignore-eos", "--json", "-t", "1"}, args...)...).ok(t))
	}
	with, without := run(), run("--draft-max", "0")
	if without.Drafted != 0 || without.Accepted != 0 || with.Accepted > with.Drafted || simd.Best() != simd.Portable && with.Accepted == 0 {
		t.Errorf("%d of %d drafted tokens accepted; without drafts %d of %d", with.Accepted, with.Drafted, without.Accepted, without.Drafted)
	}
	if !slices.Equal(with.Tokens, without.Tokens) || with.Text != without.Text || !slices.Equal(with.LogitsSHA256, without.LogitsSHA256) {
		t.Errorf("with drafts %v, without %v", with.Tokens, without.Tokens)
	}
	invoke(t, "run", "-m", dir, "-p", "x", "--draft-max", "65").fails(t, statusUsage, "--draft-max 65")
}

// TestRunProcessors: more threads than processors are said, and not used.
func TestRunProcessors(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	o := invoke(t, "run", "-m", dir, "-p", "one", "-n", "2", "--json", "-t", "999").ok(t)
	n := runtime.GOMAXPROCS(0)
	if got := lastResult(t, o).Threads; got != n || !strings.HasPrefix(o.stderr, fmt.Sprintf("infer: -t 999: there are %d processor", n)) {
		t.Errorf("%d threads, stderr %q", got, o.stderr)
	}
}

// TestActivations: the option reaches the model, and is said.
func TestActivations(t *testing.T) {
	dir := tiny(t, testmodel.TinyOptions{})
	blocks := filepath.Join(t.TempDir(), "q8b32")
	invoke(t, "quantize", "--quiet", "-m", dir, "-o", blocks, "-q", "q8b32").ok(t)
	for _, c := range []struct{ model, activations, want string }{{blocks, "int8", "int8"}, {blocks, "exact", "exact"}, {dir, "int8", "exact"}} {
		o := invoke(t, "run", "-m", c.model, "-p", "one", "-n", "2", "--json", "--activations", c.activations).ok(t)
		if got := lastResult(t, o).Activations; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	o := invoke(t, "bench", "-m", blocks, "-p", "4", "-n", "2", "-r", "1", "-t", "1", "--activations", "int8").ok(t)
	if !strings.HasPrefix(o.stdout, "q8b32 weights, mapped, "+simd.Best().String()+", int8 activations\n") {
		t.Errorf("got %s", o.stdout)
	}
	o = invoke(t, "evaluate", "--against", dir, "-m", blocks, "-p", "one", "-n", "4", "--steps", "2", "--activations", "int8").ok(t)
	if !strings.Contains(o.stdout, "q8b32+int8 ") {
		t.Errorf("got %s", o.stdout)
	}
	invoke(t, "run", "-m", dir, "-p", "x", "--activations", "int4").fails(t, statusUsage, "--activations int4")
}
