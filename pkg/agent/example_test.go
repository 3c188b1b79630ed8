package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/llama"
)

// parrot is a model of one's own: anything that writes calls is one. This one
// writes what it is told to.
type parrot []string

func (p *parrot) Check(agent.Spec) error                  { return nil }
func (p *parrot) Bind([]agent.Spec) (agent.Caller, error) { return p, nil }
func (p *parrot) Context() int                            { return 4096 }
func (p *parrot) Close() error                            { return nil }

func (p *parrot) Prompt(messages []llama.Message) ([]int, error) {
	return make([]int, len(messages)), nil
}

func (p *parrot) Call(context.Context, []int, int) (agent.Written, error) {
	text := (*p)[0]
	if len(*p) > 1 {
		*p = (*p)[1:]
	}
	return agent.Written{Text: text, Tokens: 1}, nil
}

func (p *parrot) Cut(text string, n int) string { return text[:min(len(text), n)] }

// A tool of one's own is a function with a schema of its arguments.
func ExampleNewTool() {
	upper := agent.NewTool("upper", "Turns a text into capitals.",
		`{"type":"object","properties":{"text":{"type":"string","maxLength":100}},"required":["text"],"additionalProperties":false}`,
		func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
			var a struct{ Text string }
			if err := json.Unmarshal(args, &a); err != nil {
				return agent.Result{}, err
			}
			return agent.Result{Text: strings.ToUpper(a.Text)}, nil
		})
	model := &parrot{`{"name":"upper","arguments":{"text":"leveret"}}`, `{"name":"done","arguments":{"answer":"LEVERET"}}`}
	a, err := agent.New(model, []agent.Tool{upper}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	for step, err := range a.Run(context.Background(), "write leveret in capitals") {
		if err != nil {
			log.Fatal(err)
		}
		if step.End == agent.Done {
			fmt.Println("answer:", step.Answer)
			continue
		}
		fmt.Println(step.Call.Name, string(step.Call.Arguments), step.Result)
	}
	// Output:
	// upper {"text":"leveret"} LEVERET
	// answer: LEVERET
}

// A model of pkg/llama can call the tools that there are, with arguments that
// they take, and write nothing else: not even this one, which has random weights
// and nothing to say.
func ExampleNewLlama() {
	model, err := llama.Load(testmodel.TinyFS(testmodel.TinyOptions{Context: 2048}), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		log.Fatal(err)
	}
	paint := agent.NewTool("paint", "Paints the house.", `{"type":"object","properties":{"color":{"enum":["red","green"]}},"required":["color"]}`,
		func(_ context.Context, args json.RawMessage) (agent.Result, error) {
			return agent.Result{Text: "painted as you say: " + string(args)}, nil
		})
	a, err := agent.New(writer, []agent.Tool{paint}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	for step, err := range a.Run(context.Background(), "paint the house") {
		if step.Call.Name == "paint" && !strings.HasPrefix(step.Result, `painted as you say: {"color":"`) {
			fmt.Println("malformed:", string(step.Call.Arguments))
		}
		if step.End != "" {
			fmt.Println("the run has an end, and a reason:", agent.ReasonOf(err) == step.End)
		}
	}
	// Output:
	// the run has an end, and a reason: true
}

// With tools of strangers one leaves out those that cannot be used.
func ExampleNew() {
	call := func(context.Context, json.RawMessage) (agent.Result, error) { return agent.Result{}, nil }
	strange := []agent.Tool{
		agent.NewTool("good", "", `{"type":"object"}`, call),
		agent.NewTool("peeks", "", `{"$ref":"file:///etc/passwd"}`, call),
		agent.NewTool("good", "", `{"type":"object"}`, call),
	}
	a, err := agent.New(&parrot{}, strange, &agent.Options{SkipUnusable: true})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	for _, s := range a.Skipped() {
		fmt.Println(s.Name, errors.Is(s.Err, agent.ErrTool))
	}
	for _, spec := range a.Tools() {
		fmt.Println(spec.Name)
	}
	// Output:
	// peeks true
	// good true
	// good
	// done
}

// Every run ends with a reason.
func ExampleReasonOf() {
	a, err := agent.New(&parrot{`{"name":"undeclared","arguments":{}}`}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	for step, err := range a.Run(context.Background(), "task") {
		if err != nil {
			fmt.Println(agent.ReasonOf(err), errors.Is(err, agent.ErrRepeatedCall))
			continue
		}
		fmt.Println(step.N, step.Result)
	}
	// Output:
	// 1 error: arguments: there is no tool "undeclared"
	// 2 error: arguments: there is no tool "undeclared"
	// [notice: the same call was just made, with the same result to be expected; make another call, or call done]
	// repeated-call true
}
