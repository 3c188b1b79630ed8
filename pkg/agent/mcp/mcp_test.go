package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/leveret-os/leveret/internal/testenv"
	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/llama"
)

func TestTools(t *testing.T) {
	connectBoth(t, nil, func(t *testing.T, s *Server) {
		echo := find(t, s, "echo")
		// As the server wrote it: the order of the properties, all the digits.
		if want := `{"type":"object","properties":{"zeta":{"type":"integer","maximum":123456789012345678901234567890},"alpha":{"type":"string"}},"required":["zeta"],"additionalProperties":false}`; string(echo.Schema()) != want {
			t.Errorf("schema %s", echo.Schema())
		}
		if echo.Description() != "The tool echo." {
			t.Errorf("description %q", echo.Description())
		}
		for _, c := range []struct{ tool, args, want, err string }{
			{"echo", `{"zeta":123456789012345678901234567890,"alpha":"<é>"}`, `{"zeta":123456789012345678901234567890,"alpha":"<é>"}`, ""},
			{"fail", `{}`, "", "no such record"},
			{"break", `{}`, "", "out of order"},
			{"mixed", `{}`, "one\n[an image, image/png, 5 bytes]\n[a sound, audio/wav, 3 bytes]\n[a link to r, file:///r]\ntwo\n[a file, file:///b, a/b, 4 bytes]", ""},
			{"structured", `{}`, `{"a":1}`, ""},
		} {
			r, err := find(t, s, c.tool).Call(context.Background(), json.RawMessage(c.args))
			if c.err == "" && (err != nil || r.Text != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%s: %v, %q", c.tool, err, r.Text)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, err := find(t, s, "slow").Call(ctx, json.RawMessage(`{}`))
		is(t, err, context.DeadlineExceeded)
		if r, err := find(t, s, "echo").Call(context.Background(), json.RawMessage(`{"zeta":1}`)); err != nil || r.Text != `{"zeta":1}` {
			t.Errorf("after a call that took too long: %v, %q", err, r.Text)
		}
	})
}

// script is a model that writes calls in turn.
type script struct {
	calls []string
	seen  []llama.Message
	tools []agent.Spec
}

func (s *script) Check(agent.Spec) error { return nil }
func (s *script) Bind(tools []agent.Spec) (agent.Caller, error) {
	s.tools = tools
	return s, nil
}
func (s *script) Context() int { return 100000 }
func (s *script) Close() error { return nil }
func (s *script) Prompt(m []llama.Message) ([]int, error) {
	s.seen = m
	return make([]int, len(m)), nil
}
func (s *script) Call(context.Context, []int, int) (agent.Written, error) {
	text := s.calls[0]
	s.calls = s.calls[1:]
	return agent.Written{Text: text}, nil
}
func (s *script) Cut(text string, n int) string {
	for len(text) > n || !utf8.ValidString(text) {
		text = text[:min(n, len(text)-1)]
	}
	return text
}

// A whole run: tools that cannot be used are left out by name, what is called
// is validated, and a hostile result is cut.
func TestAgentWithServer(t *testing.T) {
	connectBoth(t, &Options{Prefix: "srv."}, func(t *testing.T, s *Server) {
		m := &script{calls: []string{
			`{"name":"srv.echo","arguments":{"zeta":1}}`,
			`{"name":"srv.echo","arguments":{"zeta":"1"}}`,
			`{"name":"srv.echo","arguments":{"zeta":123456789012345678901234567891}}`,
			`{"name":"srv.hostile","arguments":{}}`,
			`{"name":"done","arguments":{"answer":"ok"}}`,
		}}
		a, err := agent.New(m, s.Tools(), &agent.Options{SkipUnusable: true, ResultTokens: 500, CallTimeout: 5 * time.Minute})
		must(t, err)
		defer a.Close()
		var skipped []string
		for _, s := range a.Skipped() {
			is(t, s.Err, agent.ErrTool)
			skipped = append(skipped, s.Name)
		}
		if got := strings.Join(skipped, " "); got != "srv.odd srv.peek" {
			t.Errorf("skipped %s", got)
		}
		var steps []agent.Step
		for step, err := range a.Run(context.Background(), "task") {
			must(t, err)
			steps = append(steps, step)
		}
		if len(steps) != 5 || steps[4].Answer != "ok" {
			t.Fatalf("%d steps", len(steps))
		}
		if steps[0].Result != `{"zeta":1}` || !errors.Is(steps[1].Err, agent.ErrArguments) || !errors.Is(steps[2].Err, agent.ErrArguments) {
			t.Errorf("results %q %v, %v", steps[0].Result, steps[1].Err, steps[2].Err)
		}
		if r := steps[3].Result; len(r) > 600 || !strings.HasPrefix(r, "<|im_end|>") || !strings.Contains(r, "bytes shown]") {
			t.Errorf("a hostile result of %d bytes: %.100q", len(r), r)
		}
	})
}

// A tool that does not answer is a result, and the next call is made.
func TestAgentWithSlowServer(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds: skipped in short mode")
	}
	connectBoth(t, nil, func(t *testing.T, s *Server) {
		m := &script{calls: []string{`{"name":"slow","arguments":{}}`, `{"name":"done","arguments":{"answer":"ok"}}`}}
		a, err := agent.New(m, s.Tools(), &agent.Options{SkipUnusable: true, CallTimeout: 100 * time.Millisecond})
		must(t, err)
		defer a.Close()
		for step, err := range a.Run(context.Background(), "task") {
			must(t, err)
			if step.N == 1 {
				is(t, step.Err, agent.ErrTimeout)
			}
		}
	})
}

// quickly fails if f does not return in time.
func quickly(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("it hangs")
	}
}

// Servers that cannot be used are an error within the time that is given.
func TestServersThatCannotBeUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds: skipped in short mode")
	}
	for role, target := range map[string]error{
		"silent": context.DeadlineExceeded, "noise": ErrServer, "endless line": ErrServer, "endless pages": ErrLimit, "many tools": ErrLimit, "large pages": ErrLimit, "no list": ErrServer, "deaf": ErrServer, "deep": ErrServer,
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			quickly(t, func() {
				timeout := 20 * time.Second
				if role == "silent" || role == "deaf" {
					timeout = time.Second
				}
				cmd := command(role)
				s, err := Command(context.Background(), cmd, &Options{Timeout: timeout})
				if s != nil {
					t.Error("connected")
					s.Close()
				}
				is(t, err, ErrServer)
				is(t, err, target)
			})
		})
	}
}

// Whatever tools a server lists, and however a call goes, the session stays
// usable or says that it is not.
func TestServersThatMisbehave(t *testing.T) {
	for _, c := range []struct{ role, err, text string }{
		{"dies", "", ""},
		{"huge result", "", ""},
		{"asks back", "", `refused 2 times, roots {"roots":[]}`},
		{"wrong result", "", ""},
		{"wrong shape", "", ""},
		{"wants input", "asks for more input", ""},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			quickly(t, func() {
				s, err := Command(context.Background(), command(c.role), nil)
				must(t, err)
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				r, err := find(t, s, "a").Call(ctx, json.RawMessage(`{}`))
				if c.text != "" && (err != nil || r.Text != c.text) || c.text == "" && (err == nil || !errors.Is(err, ErrServer) || !strings.Contains(err.Error(), c.err)) {
					t.Errorf("%v, %q", err, r.Text)
				}
				if c.role == "dies" || c.role == "huge result" {
					if _, err := find(t, s, "a").Call(ctx, json.RawMessage(`{}`)); !errors.Is(err, ErrServer) {
						t.Errorf("a second call: %v", err)
					}
				}
				s.Close()
			})
		})
	}
}

func TestOddTools(t *testing.T) {
	m := &script{}
	load := func(role string) *agent.Agent {
		s, err := Command(context.Background(), command(role), nil)
		must(t, err)
		t.Cleanup(func() { s.Close() })
		own := agent.NewTool("read_file", "own", `{"type":"object"}`, nil)
		a, err := agent.New(m, append([]agent.Tool{own}, s.Tools()...), &agent.Options{SkipUnusable: true})
		must(t, err)
		t.Cleanup(func() { a.Close() })
		return a
	}
	names := func(specs []agent.Spec) string {
		var list []string
		for _, s := range specs {
			list = append(list, s.Name)
		}
		return strings.Join(list, " ")
	}
	a := load("duplicates")
	if got := names(a.Tools()); got != "read_file a done" || a.Tools()[0].Description != "own" || a.Tools()[1].Description != "first" {
		t.Errorf("tools %s", got)
	}
	if len(a.Skipped()) != 3 {
		t.Errorf("skipped %v", a.Skipped())
	}
	a = load("odd tools")
	if got := names(a.Tools()); got != "read_file huge good done" && got != "read_file good done" {
		t.Errorf("tools %s, skipped %v", got, a.Skipped())
	}
	for _, s := range a.Tools() {
		if len(s.Description) > 1100 || !utf8.ValidString(s.Description) {
			t.Errorf("a description of %d bytes", len(s.Description))
		}
	}
	load("null tools")
}

// A server that does not end is ended.
func TestCloseEndsTheServer(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds: skipped in short mode")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		testenv.Absent(t, fmt.Errorf("no shell to start a server with: %w", err))
	}
	cmd := command("good")
	script := exec.Command("sh", "-c", "trap '' TERM; "+cmd.Path+"; while :; do sleep 1; done")
	script.Env = cmd.Env
	quickly(t, func() {
		s, err := Command(context.Background(), script, nil)
		must(t, err)
		s.Close()
		if script.ProcessState == nil {
			t.Error("the server still runs")
		}
	})
}

func TestCommandRefuses(t *testing.T) {
	_, err := Command(context.Background(), exec.Command("/no/such/program"), nil)
	is(t, err, ErrServer)
	cmd := command("good")
	cmd.Stdout = io.Discard
	_, err = Command(context.Background(), cmd, nil)
	is(t, err, ErrServer)
}

// Servers over HTTP that would keep a client for ever, drown it, or send it
// elsewhere.
func TestHostileHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds: skipped in short mode")
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	answer := func(w http.ResponseWriter, r request, result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
	}
	for _, c := range []struct {
		name string
		list func(w http.ResponseWriter, r request)
	}{
		{"redirect", func(w http.ResponseWriter, r request) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		{"endless JSON", func(w http.ResponseWriter, r request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				if _, err := io.WriteString(w, strings.Repeat("[1,", 1<<14)); err != nil {
					return
				}
			}
		}},
		{"endless event", func(w http.ResponseWriter, r request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: ")
			for {
				if _, err := io.WriteString(w, strings.Repeat("[1,", 1<<14)); err != nil {
					return
				}
			}
		}},
		{"endless lines", func(w http.ResponseWriter, r request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, strings.Repeat("data: 1\n", 1<<14)); err != nil {
					return
				}
			}
		}},
		{"endless events", func(w http.ResponseWriter, r request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n"); err != nil {
					return
				}
			}
		}},
		{"silence", func(w http.ResponseWriter, r request) { time.Sleep(3 * time.Second) }},
		{"an error", func(w http.ResponseWriter, r request) { w.WriteHeader(http.StatusInternalServerError) }},
		{"a page", func(w http.ResponseWriter, r request) { io.WriteString(w, "<html>") }},
		{"another id", func(w http.ResponseWriter, r request) { r.ID = json.RawMessage("7777"); answer(w, r, `{"tools":[]}`) }},
		{"endless pages", func(w http.ResponseWriter, r request) { answer(w, r, `{"tools":[],"nextCursor":"x"}`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
				var r request
				json.NewDecoder(h.Body).Decode(&r)
				switch r.Method {
				case "initialize":
					answer(w, r, initialized)
				case "tools/list":
					c.list(w, r)
				case "notifications/initialized":
					w.WriteHeader(http.StatusAccepted)
				default:
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, r.ID)
				}
			}))
			defer site.Close()
			quickly(t, func() {
				s, err := HTTP(context.Background(), site.URL, nil, &Options{Timeout: 2 * time.Second, MaxMessage: 1 << 20})
				if err == nil {
					t.Errorf("connected, with %d tools", len(s.Tools()))
					s.Close()
				}
				is(t, err, ErrServer)
			})
		})
	}
	t.Cleanup(func() {
		if elsewhere.Load() != 0 {
			t.Error("the redirect was followed")
		}
	})
}

func TestHTTPRefuses(t *testing.T) {
	for _, endpoint := range []string{"", "file:///etc/passwd", "ftp://a.test", "http://", "://", "localhost:80"} {
		_, err := HTTP(context.Background(), endpoint, nil, nil)
		is(t, err, ErrServer)
	}
	_, err := HTTP(context.Background(), "http://127.0.0.1:1", nil, &Options{Timeout: time.Second})
	is(t, err, ErrServer)
}

// A schema that lost digits, or was never seen as it was written, is none.
func TestSchemasWithoutText(t *testing.T) {
	for text, good := range map[string]bool{
		`{"type":"object"}`: true, `{"maximum":9007199254740991}`: true, `{"maximum":9007199254740993}`: false,
		`{"a":[{"b":-1e300}]}`: false, `{"multipleOf":0.1}`: true, `null`: true,
	} {
		var v any
		must(t, json.Unmarshal([]byte(text), &v))
		if exact(v) != good {
			t.Errorf("%s: want %v", text, good)
		}
	}
}
