package bpe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveret-os/leveret/internal/testmodel"
)

// checkpoint returns the tokenizer file of the real checkpoint.
func checkpoint(b *testing.B) []byte {
	data, err := os.ReadFile(filepath.Join(testmodel.Dir(b, "bf16"), "tokenizer.json"))
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func BenchmarkParse(b *testing.B) {
	data := checkpoint(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok, err := Parse(checkpoint(b))
	if err != nil {
		b.Fatal(err)
	}
	const english = "It was a bright cold day in the middle of the year, and nobody in the village knew yet that 1,024 visitors would come: " +
		"don't ask why.\n\tThe engineers (all of them) had measured everything twice; still, something unexpected remained.\n"
	for name, text := range map[string]string{
		"English":    strings.Repeat(english, 500),
		"Chinese":    strings.Repeat("今天天气很好，我们去公园散步吧。技术正在迅速发展。", 2000),
		"Code":       strings.Repeat("\tfor i := range len(pieces) {\n\t\tif pieces[i].end > 0x10FFFF {\n\t\t\treturn nil, err\n\t\t}\n\t}\n", 1000),
		"OneLetter":  strings.Repeat("a", 100_000),
		"OnlySpaces": strings.Repeat(" ", 100_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Encode(text, nil)
			}
		})
	}
}

func BenchmarkDecoder(b *testing.B) {
	tok, err := Parse(checkpoint(b))
	if err != nil {
		b.Fatal(err)
	}
	ids := tok.Encode("The quick brown fox jumps over the lazy dog. 😀 ", nil)
	d := tok.NewDecoder(nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Add(ids[i%len(ids)])
	}
}
