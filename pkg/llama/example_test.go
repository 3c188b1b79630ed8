package llama_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"time"

	"github.com/leveret-os/leveret/internal/testmodel"
	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/llama"
)

// The examples run a tiny model with random weights; a real one is a folder.
func tinyModel() *llama.Model {
	m, err := llama.Load(testmodel.TinyFS(testmodel.TinyOptions{}), nil)
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleOpen() {
	model, err := llama.Open("no/such/folder", &llama.Options{Threads: 2})
	if err != nil {
		fmt.Println("not found:", errors.Is(err, fs.ErrNotExist))
		return
	}
	defer model.Close()
	// Output: not found: true
}

func ExampleLoad() {
	model, err := llama.Load(testmodel.TinyFS(testmodel.TinyOptions{Layers: 3}), &llama.Options{Threads: 1, ISA: "portable"})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	info := model.Info()
	fmt.Println(model.Config().NumHiddenLayers, "layers,", info.ISA, "weights", info.Memory)
	// Output: 3 layers, portable weights private
}

func ExampleSession_Generate() {
	model := tinyModel()
	defer model.Close()
	session, err := model.NewSession(&llama.SessionOptions{Context: 128})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	prompt := model.Tokenizer().Encode("The capital of France is", &bpe.EncodeOptions{AddSpecial: true})
	n := 0
	for token, err := range session.Generate(context.Background(), prompt, &llama.GenerateOptions{MaxTokens: 8, IgnoreEOS: true}) {
		if err != nil {
			log.Fatal(err)
		}
		n++
		if token.Finish != "" {
			fmt.Println(n, "tokens, ended by", token.Finish)
		}
	}
	// Output: 8 tokens, ended by length
}

func ExampleSession_DraftStats() {
	model := tinyModel()
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	prompt := []int{10, 11, 12, 13, 10, 11, 12, 13, 10, 11}
	for _, err := range session.Generate(context.Background(), prompt, &llama.GenerateOptions{MaxTokens: 20, IgnoreEOS: true, DraftMax: -1}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(session.DraftStats())
	// Output: {0 0}
}

func ExampleModel_ReadRate() {
	model := tinyModel()
	defer model.Close()
	perSecond, bytes, err := model.ReadRate(time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(perSecond > 0, bytes <= model.Info().Bytes)
	// Output: true true
}

func ExampleSession_Append() {
	model := tinyModel()
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if err := session.Append(context.Background(), model.Tokenizer().Encode("Hello", nil)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(session.Logits()) == model.Config().VocabSize)
	// Output: true
}

func ExampleSession_Rewind() {
	model := tinyModel()
	defer model.Close()
	session, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	ctx := context.Background()
	if err := session.Append(ctx, []int{10, 11, 12, 13}); err != nil {
		log.Fatal(err)
	}
	rest, err := session.Rewind([]int{10, 11, 12, 20, 21}) // the conversation went another way
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("still to compute:", rest)
	// Output: still to compute: [20 21]
}

func ExampleSession_Save() {
	model := tinyModel()
	defer model.Close()
	first, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	if err := first.Append(context.Background(), []int{10, 11, 12}); err != nil {
		log.Fatal(err)
	}
	var prefix bytes.Buffer
	if err := first.Save(&prefix); err != nil {
		log.Fatal(err)
	}
	second, err := model.NewSession(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	if err := second.Restore(&prefix); err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Tokens())
	// Output: [10 11 12]
}
