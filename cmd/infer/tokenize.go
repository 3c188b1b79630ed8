package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/leveret-os/leveret/pkg/bpe"
	"github.com/leveret-os/leveret/pkg/checkpoint"
)

func tokenizeCommand() *command {
	return &command{
		name:  "tokenize",
		args:  "[TEXT]",
		short: "show the token ids of a text",
		long: `
The text is TEXT, or the whole of FILE, or of standard input. Each token is a
line with its id and its spelling; with --json all is one array of ids. -m may
be a folder that has nothing but the tokenizer's files.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			t := &tokenizeFlags{flags: f}
			f.string(&t.path, "m,model", modelArgument, "the model whose tokenizer is used")
			f.string(&t.file, "f,file", "FILE", "read the text from a file ('-': standard input)")
			f.bool(&t.special, "parse-special", "the spelling of special tokens in the text means these tokens")
			f.bool(&t.add, "add-special", "add what the tokenizer puts around a text, such as a beginning-of-sequence token")
			f.bool(&t.json, "json", "an array of ids")
			return t.run
		},
	}
}

type tokenizeFlags struct {
	flags              *flags
	path, file         string
	special, add, json bool
}

func (t *tokenizeFlags) run(_ context.Context, c *console, args []string) error {
	switch {
	case t.path == "":
		return usagef("no model given: -m %s", modelArgument)
	case len(args) > 1:
		return usagef("expected one text, found %d (quote it)", len(args))
	case len(args) == 1 && t.flags.given("f"):
		return usagef("TEXT and -f are two texts: give one")
	case t.flags.given("f") && t.file == "":
		return usagef("-f: expected a file name")
	}
	tokenizer, err := openTokenizer(t.path)
	if err != nil {
		return err
	}
	var text string
	if len(args) == 1 {
		text = args[0]
	} else {
		name := t.file
		if name == "" {
			name = "-"
		}
		b, err := readText(c, name)
		if err != nil {
			return err
		}
		text = string(b)
	}
	ids := tokenizer.Encode(text, &bpe.EncodeOptions{ParseSpecial: t.special, AddSpecial: t.add})
	if t.json {
		return writeJSON(c.stdout, notNil(ids))
	}
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "%6d  %q\n", id, tokenizer.TokenBytes(id))
	}
	_, err = io.WriteString(c.stdout, b.String())
	return err
}

// openTokenizer reads the tokenizer of a checkpoint, or of a folder that has
// no weights.
func openTokenizer(path string) (*bpe.Tokenizer, error) {
	c, err := checkpoint.Open(path, nil)
	if err == nil {
		defer c.Close()
		return c.Tokenizer()
	}
	if st, serr := os.Stat(path); serr == nil && st.IsDir() && errors.Is(err, checkpoint.ErrNoCheckpoint) {
		return bpe.Load(os.DirFS(path))
	}
	return nil, err
}
