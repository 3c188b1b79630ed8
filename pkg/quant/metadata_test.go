package quant

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetadata(t *testing.T) {
	m := Metadata{
		"model.embed_tokens.weight": {Q8B32, 49152, 576},
		`a "name" – and another`:    {Q4B32, 1, 32},
		"b":                         {Q4B32M, 17, 64},
	}
	got, err := ParseMetadata(m.String())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Error(d)
	}
	const want = `{"format":"leveret-blocks","version":1,"tensors":{"b":{"type":"Q4B32M","shape":[17,64]}}}`
	if got := (Metadata{"b": {Q4B32M, 17, 64}}).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (Metadata{"b": {Q4B32M, 17, 64}})["b"].Bytes(); got != 2*(2*64+2*256) {
		t.Errorf("size %d", got)
	}
}

func TestMetadataErrors(t *testing.T) {
	const open = `{"format":"leveret-blocks","version":1,"tensors":`
	for _, c := range []struct {
		value string
		want  error
		text  string
	}{
		{``, ErrMetadata, ""},
		{`null`, ErrVersion, ""},
		{`[]`, ErrMetadata, ""},
		{`{}`, ErrVersion, `format ""`},
		{`{"format":"leveret-blocks","version":2,"tensors":{}}`, ErrVersion, "version 2"},
		{`{"format":"other","version":1,"tensors":{}}`, ErrVersion, `"other"`},
		{`{"format":"leveret-blocks","version":1}`, ErrMetadata, "no tensors"},
		{open + `[]}`, ErrMetadata, "object"},
		{open + `null}`, ErrMetadata, "object"},
		{open + `{"a":1}}`, ErrMetadata, `"a"`},
		{open + `{"a":{"type":"Q5","shape":[1,32]}}}`, ErrFormat, `"Q5"`},
		{open + `{"a":{"type":"Q8B32","shape":[1,33]}}}`, ErrRowLength, "33"},
		{open + `{"a":{"type":"Q8B32","shape":[32]}}}`, ErrMetadata, "[32]"},
		{open + `{"a":{"type":"Q8B32","shape":[0,32]}}}`, ErrMetadata, "positive"},
		{open + `{"a":{"type":"Q8B32","shape":[-16,-32]}}}`, ErrMetadata, "positive"},
		{open + `{"a":{"type":"Q8B32","shape":[4611686018427387904,32]}}}`, ErrMetadata, "too large"},
		{open + `{"a":{"type":"Q8B32","shape":[9223372036854775807,32]}}}`, ErrMetadata, "shape"},
		{open + `{"a":{"type":"Q8B32","shape":[9223372036854775808,32]}}}`, ErrMetadata, `"a"`},
		{open + `{"a":{"type":"Q8B32","shape":[1.5,32]}}}`, ErrMetadata, `"a"`},
		{open + `{"a":{"type":"Q8B32","shape":[1,32]},"a":{"type":"Q8B32","shape":[1,32]}}}`, ErrMetadata, "twice"},
	} {
		m, err := ParseMetadata(c.value)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %v; want %v with %q", c.value, m, err, c.want, c.text)
		}
	}
}

func FuzzParseMetadata(f *testing.F) {
	f.Add(Metadata{"a": {Q8B32, 3, 32}}.String())
	f.Add(Metadata{}.String())
	f.Add(`{"format":"leveret-blocks","version":1,"tensors":{"a":{"type":"Q8B32","shape":[4611686018427387904,32]}}}`)
	f.Fuzz(func(t *testing.T, value string) {
		m, err := ParseMetadata(value)
		if err != nil {
			return
		}
		for name, v := range m {
			if v.Bytes() <= 0 {
				t.Fatalf("%q: %+v has %d bytes", name, v, v.Bytes())
			}
		}
		again, err := ParseMetadata(m.String())
		if err != nil || !cmp.Equal(m, again) {
			t.Fatalf("%s became %s: %v", value, m, err)
		}
	})
}
