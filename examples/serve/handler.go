package main

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

const (
	maxBody    = 64 << 10 // bytes of a request
	maxTokens  = 256      // tokens of an answer
	maxContext = 2048     // tokens of prompt and answer: the memory of a request
)

// request is the body of POST /generate.
type request struct {
	Prompt      string   `json:"prompt"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature float32  `json:"temperature"`
	Seed        uint64   `json:"seed"`
	Stop        []string `json:"stop"`
}

// handler streams what a model generates as plain text. One model serves all
// requests; each has a session of its own.
type handler struct {
	model *llama.Model
	slots chan struct{} // one value for each request that may run now
}

// NewHandler returns a handler that lets at most parallel requests have a
// session at once; others wait.
func NewHandler(model *llama.Model, parallel int) http.Handler {
	return &handler{model: model, slots: make(chan struct{}, parallel)}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if req.MaxTokens <= 0 || req.MaxTokens > maxTokens {
		req.MaxTokens = maxTokens
	}

	// The request's context ends when the client goes away, and with it the
	// wait, the prefill or the generation.
	ctx := r.Context()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return
	}
	session, err := h.model.NewSession(&llama.SessionOptions{Context: min(maxContext, h.model.Config().ContextLength())})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer session.Close()

	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := http.NewResponseController(w)
	started := false
	ids := h.model.Tokenizer().Encode(req.Prompt, &bpe.EncodeOptions{AddSpecial: true})
	for token, err := range session.Generate(ctx, ids, &llama.GenerateOptions{
		MaxTokens: req.MaxTokens,
		Stop:      req.Stop,
		Sampling:  llama.Sampling{Temperature: req.Temperature, Seed: req.Seed},
	}) {
		if err != nil {
			if !started {
				http.Error(w, err.Error(), status(err))
			}
			return // too late for a status: the client sees the text end
		}
		started = true
		if _, err := w.Write([]byte(token.Text)); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

// theirs are the errors that the client's request causes.
var theirs = []error{llama.ErrContext, llama.ErrNoPrompt, llama.ErrOptions, llama.ErrSampling, llama.ErrStop}

// status is the HTTP status of an error before the first token.
func status(err error) int {
	for _, e := range theirs {
		if errors.Is(err, e) {
			return http.StatusBadRequest
		}
	}
	return http.StatusInternalServerError
}
