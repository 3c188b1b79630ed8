// Command grammarbench measures pkg/grammar's masks on random calls of the tools
// in pkg/grammar/testdata/schemas, and writes what it measured, with the calls'
// tokens, for compare.py to do the same with PyPI's llguidance:
//
//	grammarbench MODEL_FOLDER SCHEMA_FILE... > calls.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"time"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/grammar"
)

// callsOfTool is how many calls of each tool are made.
const callsOfTool = 10

// maxTokens ends a call that has become too long.
const maxTokens = 150

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// warmup is the first tool, which pays for what is done once in a process. It is
// told apart in the table.
var warmup = tool{Name: "warmup", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}

type result struct {
	tool
	CompileMicros float64     `json:"compile_us"` // and the first mask
	Calls         [][]int     `json:"calls"`
	MaskMicros    [][]float64 `json:"mask_us"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "grammarbench:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("usage: grammarbench MODEL_FOLDER SCHEMA_FILE...")
	}
	tok, err := bpe.Load(os.DirFS(os.Args[1]))
	if err != nil {
		return err
	}
	eos, ok := tok.ID("<|im_end|>")
	if !ok {
		return fmt.Errorf("no <|im_end|>")
	}
	v, err := grammar.NewVocabulary(tok.VocabSize(), func(id int) []byte {
		if tok.IsSpecial(id) {
			return nil
		}
		return tok.TokenBytes(id)
	}, []int{eos})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	r := rand.New(rand.NewPCG(1, 2))
	first, err := measure(warmup, tok, v, eos, r)
	if err != nil {
		return err
	}
	if err := enc.Encode(first); err != nil {
		return err
	}
	for _, file := range os.Args[2:] {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var tools []tool
		if err := json.Unmarshal(data, &tools); err != nil {
			return err
		}
		for _, t := range tools {
			res, err := measure(t, tok, v, eos, r)
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			if err := enc.Encode(res); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// measure makes calls of one tool by a fresh grammar.
func measure(t tool, tok *bpe.Tokenizer, v *grammar.Vocabulary, eos int, r *rand.Rand) (*result, error) {
	legal := make([]uint64, (v.Size()+63)/64)
	begin := time.Now()
	g, err := grammar.CompileTools([]grammar.Tool{{Name: t.Name, Schema: t.Schema}}, nil)
	if err != nil {
		return nil, err
	}
	m := g.NewMatcher(v)
	if err := m.Mask(legal); err != nil {
		return nil, err
	}
	res := &result{tool: t, CompileMicros: micros(begin)}
	for range callsOfTool {
		m.Reset()
		call, times := []int{}, []float64{}
		for len(call) < maxTokens && !m.Done() {
			begin := time.Now()
			err := m.Mask(legal)
			times = append(times, micros(begin))
			if err != nil {
				return nil, err
			}
			id := pick(legal, tok, eos, r)
			if id == eos {
				break
			}
			if err := m.Accept(id); err != nil {
				return nil, err
			}
			call = append(call, id)
		}
		res.Calls = append(res.Calls, call)
		res.MaskMicros = append(res.MaskMicros, times)
	}
	return res, nil
}

func micros(begin time.Time) float64 { return float64(time.Since(begin).Nanoseconds()) / 1e3 }

// pick takes a legal token at random, in strings now and then one that ends.
func pick(legal []uint64, tok *bpe.Tokenizer, eos int, r *rand.Rand) int {
	var ids []int
	for i, w := range legal {
		for ; w != 0; w &= w - 1 {
			ids = append(ids, 64*i+bits.TrailingZeros64(w))
		}
	}
	id := ids[r.IntN(len(ids))]
	if len(ids) > 1000 && r.IntN(6) == 0 {
		for range 300 {
			if k := ids[r.IntN(len(ids))]; k != eos && tok.TokenBytes(k)[0] == '"' {
				return k
			}
		}
	}
	return id
}
