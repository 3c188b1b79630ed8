package agent

import (
	"context"

	"github.com/leveret-os/leveret/pkg/llama"
)

// A Model can write tool calls. Llama is one; tests have scripts.
type Model interface {
	// Check reports what is wrong with a tool, other than its name, that the
	// model could not be made to call correctly.
	Check(tool Spec) error
	// Bind makes the model ready to call these tools and no others. All of them
	// passed Check.
	Bind(tools []Spec) (Caller, error)
}

// A Caller is a model that is bound to tools. It need not be safe for
// concurrent use.
type Caller interface {
	// Context is the number of tokens that a prompt and a call may have together.
	Context() int
	// Prompt returns the tokens of a conversation up to where the model writes
	// its next call. Messages have the roles system, user, assistant and tool;
	// those of the assistant have one tool call, or a content where what the
	// model wrote is no call.
	Prompt(messages []llama.Message) ([]int, error)
	// Call lets the model write a call of at most maxTokens tokens.
	Call(ctx context.Context, prompt []int, maxTokens int) (Written, error)
	// Cut returns as much of the beginning of a text as has at most n tokens. It
	// ends at the border of a character.
	Cut(text string, n int) string
	// Close frees what the caller holds.
	Close() error
}

// Written is what a model wrote.
type Written struct {
	// Text is a call: {"name": …, "arguments": {…}}.
	Text string
	// Tokens is how many tokens the model wrote, and Forced how many of those
	// were appended because nothing else was legal.
	Tokens, Forced int
	// Cut means that the text ends because of the number of tokens: it may be the
	// beginning of a call, or a whole one of which something was left out.
	Cut bool
}
