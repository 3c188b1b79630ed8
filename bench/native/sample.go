package native

import "time"

// A sample is one raw row: what one config did once in one task.
type sample struct {
	item
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"` // it took, tries and waiting left out
	// Values are in units of their names (measures.go). Where something failed
	// there are none, and Error says what.
	Values map[string]float64 `json:"values,omitempty"`
	Error  string             `json:"error,omitempty"`
	// Tokens are the greedy tokens of the prompts "first" and "chat"; Texts are
	// those of engines that do not tell ids.
	Tokens map[string][]int  `json:"tokens,omitempty"`
	Texts  map[string]string `json:"texts,omitempty"`
	// Version is the engine's.
	Version string `json:"version,omitempty"`
	Noise   noise  `json:"noise"`
	Noisy   bool   `json:"noisy,omitempty"` // disturbed in every try
	Tries   int    `json:"tries"`
}
