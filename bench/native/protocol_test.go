package native

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const talk = `some library greets
{"event":"begin","t":10.5}
{"event":"imported","t":11,"version":"1.2"}
{"event":"loaded","t":11.25}
{"not":"an event"}
{"event":"step","name":"first","start":11.5,"first":11.75,"last":12.75,"count":3,"rss":4096,"ids":[7,8,9]}
{"event":"step","name":"decode","start":13,"first":13.5,"last":14.5,"count":128,"rss":8192,"read":254000,"bytes":1000}
{"event":"step","name":"prefill","start":15,"first":17,"last":17,"count":1,"rss":9000}
{"event":"step","name":"prefill","start":18,"first":19,"last":19,"count":1,"rss":9000}
{"event":"step","name":"chat","start":20,"first":21,"last":22,"count":2,"rss":9000,"text":"Paris"}
{"event":"end","t":23}
`

func TestValues(t *testing.T) {
	events, err := readEvents(strings.NewReader(talk))
	if err != nil || len(events) != 9 {
		t.Fatalf("%d events (%v)", len(events), err)
	}
	x := sample{item: testItem(0)}
	if err := values(&x, events, 10, true); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		keyImport: 0.5, keyLoad: 0.25, keyFirst: 1.25, keyFirstAll: 1.75, keyMemory: 4096, keyDecode: 127, keyWarmFirst: 0.5,
		keyPrefill: 512, keyRead: 254000, keyBytes: 1000, keyRatio: 0.5,
	} {
		if x.Values[key] != want {
			t.Errorf("%s: %v, want %v", key, x.Values[key], want)
		}
	}
	if x.Version != "1.2" || !slices.Equal(x.Tokens["first"], []int{7, 8, 9}) || x.Texts["chat"] != "Paris" {
		t.Errorf("%+v", x)
	}
	// A program in C has no interpreter to forgive.
	x = sample{item: testItem(0)}
	if err := values(&x, events, 10, false); err != nil || x.Values[keyFirst] != 1.75 || x.Values[keyImport] != 0 {
		t.Errorf("%+v (%v)", x.Values, err)
	}
	// In a deep sample the first step only warms up.
	x = sample{item: testItem(0)}
	x.Task = taskDeep
	if err := values(&x, events, 10, false); err != nil || x.Values[keyFirst] != 0 || len(x.Tokens) != 0 {
		t.Errorf("%+v (%v)", x, err)
	}
	if err := values(&x, events[:8], 10, false); err == nil {
		t.Error("a program without an end is no error")
	}
}

func TestArguments(t *testing.T) {
	r := &request{Model: "m", Threads: 2, Context: 9, Steps: []step{{Name: "a", IDs: []int{1, 2}, Text: "x", Tokens: 3}, {Name: "b", IDs: []int{4}, Tokens: 1}}}
	if got := strings.Join(r.cArgs(), " "); got != "m 2 9 a:3:1,2 b:1:4" {
		t.Errorf("%q", got)
	}
	arg, err := r.jsonArg()
	if err != nil || !strings.Contains(arg, `"steps":[{"name":"a","ids":[1,2],"text":"x","tokens":3}`) {
		t.Errorf("%s (%v)", arg, err)
	}
}

func shell(t *testing.T, script string) []string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	return []string{sh, "-c", script}
}

func TestProcess(t *testing.T) {
	ctx := t.Context()
	events, started, _, err := process(ctx, shell(t, `echo '{"event":"begin","t":'$A'}'; echo '{"event":"end"}'`), []string{"A=5"})
	if err != nil || len(events) != 2 || events[0].T != 5 || started < 0 {
		t.Errorf("%+v (%v)", events, err)
	}
	if _, _, _, err = process(ctx, shell(t, `echo first >&2; echo the reason >&2; exit 3`), nil); err == nil || !strings.HasSuffix(err.Error(), ": the reason") {
		t.Errorf("error %v, want the last line of stderr", err)
	}
	if _, _, _, err = process(ctx, shell(t, `echo '{"event":"error","reason":"no model"}'; exit 1`), nil); err == nil || err.Error() != "no model" {
		t.Errorf("error %v, want the program's own", err)
	}
	stopped, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, _, _, err = process(stopped, shell(t, `sleep 60`), nil); err == nil {
		t.Error("a cancelled process is no error")
	}
	if _, _, _, err = process(ctx, []string{filepath.Join(t.TempDir(), "none")}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %v", err)
	}
}

func TestInferResult(t *testing.T) {
	var r inferResult
	err := r.read(strings.NewReader("{\"type\":\"token\",\"id\":3}\n{\"type\":\"result\",\"tokens\":[3],\"load_ms\":2.5,\"rss_bytes\":7}\n"))
	if err != nil || r.Type != "result" || r.LoadMS != 2.5 || r.RSSBytes != 7 || !slices.Equal(r.Tokens, []int{3}) {
		t.Errorf("%+v (%v)", r, err)
	}
	if err := r.read(strings.NewReader("text\n")); err == nil {
		t.Error("text is no error")
	}
}

func TestTail(t *testing.T) {
	b := &tail{limit: 8}
	b.Write([]byte("a long first line\n"))
	b.Write([]byte("end\n\n"))
	if got := b.lastLine(); got != "end" || len(b.kept) > 8 {
		t.Errorf("%q", got)
	}
	if got := (&tail{}).lastLine(); got != "" {
		t.Errorf("%q of nothing", got)
	}
}
