package grammar

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
)

// TestForcedPasses: with forced bytes the calls of five tools need at most half
// of the model passes that sampling them token by token needs. A pass gives one
// sampled token; forced ones are computed in the batch of the next pass.
func TestForcedPasses(t *testing.T) {
	tok, err := bpe.Load(os.DirFS(testmodel.Dir(t, "bf16")))
	if err != nil {
		t.Fatal(err)
	}
	v := realVocabulary(t)
	var five []Tool
	for _, tool := range hundredTools(t) {
		if slices.Contains([]string{"read_file", "list_dir", "write_file", "compute", "done"}, tool.Name) {
			five = append(five, tool)
		}
	}
	g, err := CompileTools(five, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all, sampled int
	for _, call := range []string{
		`{"name":"read_file","arguments":{"path":"/vocab.json"}}`,
		`{"name":"read_file","arguments":{"path":"notes/today.txt"}}`,
		`{"name":"read_file","arguments":{"path":"log.txt","offset":65536}}`,
		`{"name":"list_dir","arguments":{"path":"/"}}`,
		`{"name":"list_dir","arguments":{"path":"src/main"}}`,
		`{"name":"write_file","arguments":{"path":"sum.txt","content":"The sum is 42."}}`,
		`{"name":"compute","arguments":{"expression":"12*(7+5)"}}`,
		`{"name":"done","arguments":{"answer":"There are 7 files."}}`,
	} {
		n, m := tok.Encode(call, nil), g.NewMatcher(v)
		passes := 0
		for rest := call; rest != ""; passes++ {
			forced := string(m.Forced())
			if err := m.AcceptBytes([]byte(forced)); err != nil || !strings.HasPrefix(rest, forced) {
				t.Fatalf("forced %q before %q: %v", forced, rest, err)
			}
			if rest = rest[len(forced):]; rest == "" {
				break
			}
			// The token that the tokenizer goes on with.
			text := tok.TokenBytes(tok.Encode(rest, nil)[0])
			if err := m.AcceptBytes(text); err != nil {
				t.Fatal(err)
			}
			rest = rest[len(text):]
		}
		if !m.Done() {
			t.Errorf("%s: not done", call)
		}
		all += len(n)
		sampled += passes
	}
	t.Logf("%d passes for %d tokens: %.2f", sampled, all, float64(sampled)/float64(all))
	if 2*sampled > all {
		t.Errorf("%d passes for %d tokens, expected at most half", sampled, all)
	}
}
