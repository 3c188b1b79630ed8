package native

import (
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/llama"
)

func TestInstructions(t *testing.T) {
	n, err := instructions([]byte("qemu-x86_64: warning: no\n{\"event\":\"instructions\",\"value\":1234}\n"))
	if n != 1234 || err != nil {
		t.Errorf("%v, %v", n, err)
	}
	for _, text := range []string{"", "{\"event\":\"instructions\"}\n", "instructions 5\n"} {
		if _, err := instructions([]byte(text)); err == nil {
			t.Errorf("%q told a count", text)
		}
	}
}

func TestWeights(t *testing.T) {
	c := &llama.Config{HiddenSize: 8, IntermediateSize: 16, NumHiddenLayers: 2, NumAttentionHeads: 2, NumKeyValueHeads: 1, HeadDim: 4, VocabSize: 100}
	if got := weights(c); got != 2*(64+64+32+32+3*128)+800 {
		t.Errorf("%v", got)
	}
}

// The same tokens come with drafts, or the sample is an error.
func TestSameTokens(t *testing.T) {
	events := []event{{Event: "step", Name: keyCode, IDs: []int{1, 2}}, {Event: "step", Name: keyCodeDraft, IDs: []int{1, 2}}}
	if err := sameTokens(events); err != nil {
		t.Error(err)
	}
	events[1].IDs = []int{1, 3}
	if err := sameTokens(events); err == nil || !strings.HasPrefix(err.Error(), keyCode) {
		t.Errorf("other tokens: %v", err)
	}
}

// The conversations of drafts are spelled as the checkpoint's template has them.
func TestDraftPrompts(t *testing.T) {
	model, err := llama.Open(testmodel.Dir(t, "f32"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	template, err := model.ChatTemplate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Render([]llama.Message{{Role: "user", Content: "Explain how rain forms."}}, &llama.ChatOptions{AddGenerationPrompt: true})
	if err != nil || got != conversation("Explain how rain forms.") {
		t.Errorf("%q (%v)", got, err)
	}
	list, _, err := steps(model.Tokenizer(), taskDraft, false)
	if err != nil || len(list) != 1+4*len(draftPrompts) || list[1].Draft || !list[2].Draft || list[2].Name != keyCodeDraft {
		t.Errorf("%d steps (%v)", len(list), err)
	}
}
