package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/leveret-os/leveret/pkg/agent"
)

// totals are the figures of a run.
type totals struct {
	Steps     int          `json:"steps"`
	Tokens    int          `json:"tokens"`
	Forced    int          `json:"forced"`
	Seconds   float64      `json:"seconds"`
	ToolCalls int          `json:"tool_calls"`
	Reason    agent.Reason `json:"reason"`
	Answer    *string      `json:"answer,omitempty"`
	Error     string       `json:"error,omitempty"`
}

// work runs the task and writes its steps and its end. The error is that of the
// run; one of writing ends it.
func work(ctx context.Context, a *agent.Agent, o *options, stdout io.Writer) (agent.Reason, error) {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	var t totals
	start := time.Now()
	for step, err := range a.Run(ctx, o.task) {
		if step.Call.Name != "" || step.Wrote != "" {
			t.Steps++
		}
		t.Tokens += step.Tokens
		t.Forced += step.Forced
		if step.Call.Name != "" && (step.Result != "" || step.End == agent.Done) {
			t.ToolCalls++
		}
		t.Seconds = time.Since(start).Seconds()
		if writing := writeStep(stdout, &step, o.json); writing != nil {
			return agent.Failed, writing
		}
		if step.End == "" {
			continue
		}
		t.Reason = step.End
		if step.End == agent.Done {
			t.Answer = &step.Answer
		}
		if err != nil {
			t.Error = err.Error()
		}
		if writing := writeEnd(stdout, &t, o); writing != nil {
			return agent.Failed, writing
		}
		return step.End, err
	}
	return agent.Failed, nil
}

// writeStep writes a line about a step in which the model wrote something.
func writeStep(w io.Writer, s *agent.Step, asJSON bool) error {
	if s.Call.Name == "" && s.Wrote == "" {
		return nil
	}
	if asJSON {
		return writeStepJSON(w, s)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "AGENT step=%d", s.N)
	if s.Call.Name != "" {
		fmt.Fprintf(&b, " tool=%s args=%s", s.Call.Name, s.Call.Arguments)
	} else {
		fmt.Fprintf(&b, " wrote=%s", quote(s.Wrote, 500))
	}
	if s.Result != "" {
		fmt.Fprintf(&b, " result=%s", quote(s.Result, 500))
	}
	_, err := fmt.Fprintln(w, oneLine(b.String()))
	return err
}

// quote writes a text as a JSON string, without what exceeds n bytes.
func quote(text string, n int) string {
	more := ""
	if len(text) > n {
		more = fmt.Sprintf("… (%d bytes)", len(text))
		text = string(bytes.ToValidUTF8([]byte(text[:n]), nil))
	}
	return string(marshal(text)) + more
}

// marshal encodes what cannot fail to be encoded, without escapes for HTML.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// stepJSON is a step as --json writes it.
type stepJSON struct {
	Step    int             `json:"step"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Wrote   string          `json:"wrote,omitempty"` // what is no call
	Result  string          `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	Prompt  int             `json:"prompt_tokens"`
	Tokens  int             `json:"tokens"`
	Forced  int             `json:"forced"`
	Dropped int             `json:"dropped,omitempty"`
	ModelMS float64         `json:"model_ms"`
	ToolMS  float64         `json:"tool_ms"`
}

func writeStepJSON(w io.Writer, s *agent.Step) error {
	j := stepJSON{
		Step: s.N, Tool: s.Call.Name, Args: s.Call.Arguments, Wrote: s.Wrote, Result: s.Result,
		Prompt: s.Prompt, Tokens: s.Tokens, Forced: s.Forced, Dropped: s.Dropped,
		ModelMS: milliseconds(s.ModelTime), ToolMS: milliseconds(s.ToolTime),
	}
	if s.Err != nil {
		j.Error = s.Err.Error()
	}
	_, err := fmt.Fprintf(w, "%s\n", marshal(j))
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// writeEnd writes the figures, the lines for machines, and the answer.
func writeEnd(w io.Writer, t *totals, o *options) error {
	var b bytes.Buffer
	if o.json {
		fmt.Fprintf(&b, "%s\n", marshal(t))
	} else {
		fmt.Fprintf(&b, "AGENT steps=%d tokens=%d seconds=%.3f tool_calls=%d reason=%s\n", t.Steps, t.Tokens, t.Seconds, t.ToolCalls, t.Reason)
	}
	if o.report {
		fmt.Fprintf(&b, "RESULT agent-steps %d steps\n", t.Steps)
		fmt.Fprintf(&b, "RESULT agent-tokens %d tokens\n", t.Tokens)
		fmt.Fprintf(&b, "RESULT agent-seconds %.6f s\n", t.Seconds)
		fmt.Fprintf(&b, "RESULT agent-step-ms %.3f ms\n", t.Seconds*1000/float64(max(t.Steps, 1)))
	}
	if !o.json && t.Answer != nil {
		fmt.Fprintln(&b, printable(*t.Answer))
	}
	_, err := w.Write(b.Bytes())
	return err
}
