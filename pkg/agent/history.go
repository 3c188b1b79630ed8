package agent

import (
	"fmt"

	"github.com/leveret-os/leveret/pkg/llama"
)

// A turn is what the model wrote and the answer to it. They are kept or dropped
// as a pair: a call without its result, or the reverse, misleads a model and is
// refused by many chat templates.
type turn struct{ wrote, answer llama.Message }

// history is the conversation of a run.
type history struct {
	system, task string // system may be empty: no message
	turns        []turn
	dropped      int // turns that were left out
}

// add appends a call with its result.
func (h *history) add(step int, c Call, result string) {
	// Nine letters and digits: some templates insist on that.
	id := fmt.Sprintf("call%05d", step%100000)
	h.turns = append(h.turns, turn{
		llama.Message{Role: "assistant", ToolCalls: []llama.ToolCall{{ID: id, Name: c.Name, Arguments: c.Arguments}}},
		llama.Message{Role: "tool", Content: result, ToolCallID: id, Name: c.Name},
	})
}

// addMalformed appends what the model wrote instead of a call, and what was
// wrong with it.
func (h *history) addMalformed(text, problem string) {
	h.turns = append(h.turns, turn{
		llama.Message{Role: "assistant", Content: clip(text, 200)},
		llama.Message{Role: "user", Content: problem},
	})
}

// drop leaves out the oldest turn. The last one stays.
func (h *history) drop() bool {
	if len(h.turns) < 2 {
		return false
	}
	h.turns = h.turns[1:]
	h.dropped++
	return true
}

// messages returns the conversation.
func (h *history) messages() []llama.Message {
	task := h.task
	switch {
	case h.dropped == 1:
		task += "\n\n(The first call and its result are left out here.)"
	case h.dropped > 1:
		task += fmt.Sprintf("\n\n(The first %d calls and their results are left out here.)", h.dropped)
	}
	m := make([]llama.Message, 0, 2+2*len(h.turns))
	if h.system != "" {
		m = append(m, llama.Message{Role: "system", Content: h.system})
	}
	m = append(m, llama.Message{Role: "user", Content: task})
	for _, t := range h.turns {
		m = append(m, t.wrote, t.answer)
	}
	return m
}
