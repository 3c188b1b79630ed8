package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leveret-os/leveret/pkg/agent"
)

// FuzzArguments gives any JSON, and what is none, to every tool, as a caller
// without an agent might: an error or a result, whose head is a short line.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"path":"notes.txt","offset":3,"limit":2}`, `{"path":"sub","content":"x"}`, `{"expression":"1/3"}`, `{"url":"http://127.0.0.1:1/"}`, `{"path":"é😀","offset":1e0}`,
		`{"path":"notes.txt","offset":1e99}`, `{"path":null}`, `[]`, `{`, `null`, `{"path":"notes.txt","offset":-0,"limit":18446744073709551616}`, `{"PATH":"notes.txt"}`,
	} {
		f.Add([]byte(seed), 3)
	}
	s := newSandbox(f, nil)
	list := []agent.Tool{s.tools["read_file"], s.tools["list_dir"], s.tools["write_file"], Compute()}
	get, err := HTTPGet(HTTPOptions{})
	must(f, err)
	list = append(list, get)
	f.Fuzz(func(t *testing.T, args []byte, shown int) {
		for _, tool := range list {
			r, err := tool.Call(context.Background(), json.RawMessage(args))
			if err != nil {
				s.clean(t, tool.Name(), err)
				continue
			}
			if strings.Contains(r.Text, secret) {
				t.Fatalf("%s %q: %q", tool.Name(), args, r.Text)
			}
			if r.Head == nil {
				continue
			}
			if shown = max(0, min(shown, len(r.Text))); shown > 0 && shown < len(r.Text) && !utf8.RuneStart(r.Text[shown]) {
				shown = 0
			}
			if head := r.Head(shown); len(head) > 200 || strings.Contains(head, "\n") {
				t.Errorf("%s %q: head %q", tool.Name(), args, head)
			}
		}
	})
}
