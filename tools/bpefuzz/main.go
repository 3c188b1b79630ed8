// Command bpefuzz answers tokenizer requests for fuzz.py, which compares the
// answers with those of PyPI's tokenizers package. It reads one JSON object a line
// and writes one a line:
//
//	{"file": PATH} or {"json": TEXT}              load a tokenizer → {} or {"error": …}
//	{"texts": […], "special": bool, "add": bool}  encode → {"ids": [[…]]}
//	{"decode": [[…]], "skip": bool}               decode → {"texts": […], "streamed": […]}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
)

type request struct {
	File    string   `json:"file"`
	JSON    string   `json:"json"`
	Texts   []string `json:"texts"`
	Special bool     `json:"special"`
	Add     bool     `json:"add"`
	Decode  [][]int  `json:"decode"`
	Skip    bool     `json:"skip"`
}

type answer struct {
	Error    string   `json:"error,omitempty"`
	IDs      [][]int  `json:"ids,omitempty"`
	Texts    []string `json:"texts,omitempty"`
	Streamed []string `json:"streamed,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bpefuzz:", err)
		os.Exit(1)
	}
}

func run() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var t *bpe.Tokenizer
	for dec.More() {
		var q request
		if err := dec.Decode(&q); err != nil {
			return err
		}
		var a answer
		switch {
		case q.File != "" || q.JSON != "":
			data := []byte(q.JSON)
			if q.File != "" {
				var err error
				if data, err = os.ReadFile(q.File); err != nil {
					return err
				}
			}
			var err error
			if t, err = bpe.Parse(data); err != nil {
				a.Error = err.Error()
			}
		case t == nil:
			a.Error = "no tokenizer"
		case q.Decode != nil:
			opts := &bpe.DecodeOptions{SkipSpecial: q.Skip}
			for _, ids := range q.Decode {
				a.Texts = append(a.Texts, t.Decode(ids, opts))
				var b strings.Builder
				d := t.NewDecoder(opts)
				for _, id := range ids {
					b.WriteString(d.Add(id))
				}
				b.WriteString(d.Flush())
				a.Streamed = append(a.Streamed, b.String())
			}
		default:
			opts := &bpe.EncodeOptions{ParseSpecial: q.Special, AddSpecial: q.Add}
			for _, text := range q.Texts {
				ids := t.Encode(text, opts)
				if ids == nil {
					ids = []int{}
				}
				a.IDs = append(a.IDs, ids)
			}
		}
		if err := enc.Encode(a); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
