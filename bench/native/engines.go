package native

import (
	"fmt"
	"slices"
	"strings"
)

// Engines by name.
const (
	ours     = "leveret"
	llamaCpp = "llama.cpp"
	machine  = "machine" // not an engine: what the machine itself can do
)

// int8Activations is the variant of our forms that multiplies by activations of
// 8 bits: faster, with tokens that may change.
const int8Activations = "int8"

// published4 is the GGUF that the checkpoint was published as, in Q4_1: the very
// weights, which another pass through a quantiser would change.
const published4 = "smollm2.gguf"

// A class is what forms have to have in common to be compared.
type class string

const (
	class32 class = "32-bit"
	class16 class = "16-bit"
	class8  class = "8-bit"
	class4  class = "4-bit"
)

// A form is a checkpoint in one format, as one engine runs it.
type form struct {
	name  string
	class class
	// source is what the engine's program is given as its model: a name below
	// the folder of models (model.go).
	source string
	// variant is passed on to the engine's program: a compute type, for example.
	variant string
}

// An engine is a program that runs a model.
type engine struct {
	name string
	// environment names the Python environment; "" is none.
	environment string
	// program is the file in peers that runs a sample; "" is this binary.
	program string
	forms   []form
	// leftOut names forms that run but are not worth the time, and says why.
	leftOut map[string]string
	// rounds limits the number of repetitions of slow engines; 0 is no limit.
	rounds int
	// fewer does so for forms that no goal is about.
	fewer map[string]int
	// shared means a library instead of a program.
	shared bool
	// seconds is what a short sample takes on one thread, for the estimate
	// before the first run.
	seconds float64
}

// interpreted reports whether the engine's program needs Python.
func (e *engine) interpreted() bool { return strings.HasSuffix(e.program, ".py") }

// engines is everyone who takes part.
var engines = []*engine{
	{
		name: ours, seconds: 3, fewer: map[string]int{"q4b32": 1},
		forms: []form{
			{"bf16", class16, "bf16", ""},
			{"q8b32", class8, "q8b32", ""},
			{"q8b32+int8", class8, "q8b32", int8Activations},
			{"q4b32m", class4, "q4b32m", ""},
			{"q4b32m+int8", class4, "q4b32m", int8Activations},
			{"q4b32", class4, "q4b32", ""},
		},
	},
	{
		name: llamaCpp, environment: "llamacpp", program: "llamacpp.c", seconds: 4.5, fewer: map[string]int{"Q4_K_M": 2},
		forms: []form{
			{"bf16", class16, "gguf/bf16.gguf", ""},
			{"Q8_0", class8, "gguf/Q8_0.gguf", ""},
			{"Q4_0", class4, "gguf/Q4_0.gguf", ""},
			{"Q4_0-pure", class4, "gguf/Q4_0-pure.gguf", ""},
			{"Q4_1", class4, published4, ""},
			{"Q4_K_M", class4, "gguf/Q4_K_M.gguf", ""},
		},
	},
	{
		name: "ONNX Runtime GenAI", environment: "ortgenai", program: "ortgenai.py", seconds: 3.5,
		forms: []form{
			{"int8", class8, "onnx/int8", ""},
			{"int4", class4, "onnx/int4", ""},
			{"int4-asymmetric", class4, "onnx/int4-asymmetric", ""},
		},
	},
	{
		name: "OpenVINO GenAI", environment: "openvino", program: "openvino_.py", seconds: 5,
		forms: []form{
			{"f16", class16, "openvino/F16", ""},
			{"Q8_0", class8, "openvino/Q8_0", ""},
			{"Q4_0", class4, "openvino/Q4_0", ""},
			{"Q4_1", class4, "openvino/Q4_1", ""},
		},
	},
	{
		name: "CTranslate2", environment: "ctranslate2", program: "ctranslate2_.py", seconds: 7, rounds: 3,
		forms: []form{
			{"bfloat16", class16, "ctranslate2/bfloat16", "bfloat16"},
			{"int8_float32", class8, "ctranslate2/int8_float32", "int8_float32"},
		},
	},
	{
		name: "mistral.rs", environment: "mistralrs", program: "mistralrs_.py", seconds: 9, rounds: 3,
		leftOut: map[string]string{"Q4_1": "left out: a minute a sample (10 tokens/s of decode, 20 of prefill, in a trial on one thread)"},
		forms: []form{
			{"bf16", class16, "bf16", "plain"},
			{"Q8_0", class8, "gguf/Q8_0.gguf", "gguf"},
			{"Q4_0", class4, "gguf/Q4_0.gguf", "gguf"},
			{"Q4_1", class4, published4, "gguf"},
		},
	},
	{
		name: "PyTorch eager", environment: "torch", program: "torch_.py", seconds: 18, rounds: 2,
		forms: []form{
			{"f32", class32, "f32", "float32"},
			{"bf16", class16, "bf16", "bfloat16"},
		},
	},
	{
		name: machine, program: "machine.c", seconds: 2,
		forms: []form{{"-", "", "", ""}},
	},
}

// engineNamed returns the engine of that name, or nil.
func engineNamed(name string) *engine {
	i := slices.IndexFunc(engines, func(e *engine) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return engines[i]
}

// selection is what the flags leave of engines; empty lists leave all.
type selection struct {
	engines, forms []string
}

// pick returns the engines and forms that are left. The machine's own limits
// are always measured. An entry that names nothing is an error.
func (s *selection) pick() ([]*engine, error) {
	used := map[string]bool{}
	among := func(list []string, names ...string) bool {
		if len(list) == 0 {
			return true
		}
		found := false
		for _, want := range list {
			for _, name := range names {
				if strings.EqualFold(want, name) {
					used[want] = true
					found = true
				}
			}
		}
		return found
	}
	var left []*engine
	for _, e := range engines {
		if e.name == machine {
			left = append(left, e)
			continue
		}
		if !among(s.engines, e.name, e.environment) {
			continue
		}
		picked := *e
		picked.forms = nil
		for _, f := range e.forms {
			if among(s.forms, f.name, string(f.class)) {
				picked.forms = append(picked.forms, f)
			}
		}
		if len(picked.forms) > 0 {
			left = append(left, &picked)
		}
	}
	for _, want := range slices.Concat(s.engines, s.forms) {
		if !used[want] {
			return nil, fmt.Errorf("%q names no engine and no form of one that was picked: %s", want, listed())
		}
	}
	return left, nil
}

// listed is all engines and their forms, for messages.
func listed() string {
	var b strings.Builder
	for _, e := range engines {
		if e.name == machine {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(e.name + ":")
		for _, f := range e.forms {
			b.WriteString(" " + f.name)
		}
	}
	return b.String()
}
