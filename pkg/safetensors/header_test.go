package safetensors

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// one returns a header with one tensor, whose description is given.
func one(info string) string { return `{"t":{` + info + `}}` }

func TestHeaderRefused(t *testing.T) {
	const good = `"dtype":"U8","shape":[1],"data_offsets":[0,1]`
	for _, c := range []struct {
		name, header string
		want         error
		message      string
	}{
		{"white space first", ` {}`, ErrSyntax, `at offset 8: want '{', found ' '`},
		{"nothing", ``, ErrSyntax, "found the end"},
		{"zero byte after", "{}\x00", ErrSyntax, `at offset 10: want the end of the JSON, found '\x00'`},
		{"two objects", "{}{}", ErrSyntax, `found '{'`},
		{"comma at the end", `{"__metadata__":{},}`, ErrSyntax, "want a string, found '}'"},
		{"no comma", `{"__metadata__":{} "t":{` + good + `}}`, ErrSyntax, "want ',' or '}'"},
		{"no colon", `{"t"{` + good + `}}`, ErrSyntax, "want ':'"},
		{"key without quotes", `{t:{` + good + `}}`, ErrSyntax, "want a string, found 't'"},
		{"array form", `{"t":["U8",[1],[0,1]]}`, ErrSyntax, `tensor "t"`},
		{"not UTF-8", "{\"\xc3\x28\":{" + good + "}}", ErrSyntax, "offset 10: byte 0xc3 is not UTF-8"},
		{"lone high surrogate", `{"\ud800":{` + good + `}}`, ErrSyntax, "surrogate"},
		{"lone low surrogate", `{"\udc00x":{` + good + `}}`, ErrSyntax, "surrogate"},
		{"two high surrogates", `{"\ud800\ud800":{` + good + `}}`, ErrSyntax, "surrogate"},
		{"unknown escape", `{"\x41":{` + good + `}}`, ErrSyntax, "want an escape"},
		{"short escape", `{"\u00`, ErrSyntax, "four hexadecimal digits"},
		{"signed escape", `{"\u+041":{` + good + `}}`, ErrSyntax, "four hexadecimal digits"},
		{"control character", "{\"a\nb\":{" + good + "}}", ErrSyntax, "control characters"},
		{"control character after escape", "{\"a\\n\x1f\":{" + good + "}}", ErrSyntax, "control characters"},
		{"open string", `{"abc`, ErrSyntax, "the end of a string"},
		{"dtype in lower case", one(`"dtype":"u8","shape":[1],"data_offsets":[0,1]`), ErrDType, `offset 22: "u8"`},
		{"dtype is a number", one(`"dtype":8,"shape":[1],"data_offsets":[0,1]`), ErrSyntax, "dtype: "},
		{"dtype null", one(`"dtype":null,"shape":[1],"data_offsets":[0,1]`), ErrSyntax, "dtype: "},
		{"key in other case", one(`"DType":"U8","shape":[1],"data_offsets":[0,1]`), ErrSyntax, "field dtype is missing"},
		{"no shape", one(`"dtype":"U8","data_offsets":[0,1]`), ErrSyntax, "field shape is missing"},
		{"no offsets", one(`"dtype":"U8","shape":[1]`), ErrSyntax, "field data_offsets is missing"},
		{"shape null", one(`"dtype":"U8","shape":null,"data_offsets":[0,1]`), ErrSyntax, "shape: "},
		{"negative zero", one(`"dtype":"U8","shape":[-0],"data_offsets":[0,0]`), ErrSyntax, "found -0"},
		{"fraction", one(`"dtype":"U8","shape":[1.0],"data_offsets":[0,1]`), ErrSyntax, "found 1.0"},
		{"exponent", one(`"dtype":"U8","shape":[1E0],"data_offsets":[0,1]`), ErrSyntax, "found 1E0"},
		{"leading zero", one(`"dtype":"U8","shape":[01],"data_offsets":[0,1]`), ErrSyntax, "want ',' or ']', found '1'"},
		{"2^64", one(`"dtype":"U8","shape":[18446744073709551616,0],"data_offsets":[0,0]`), ErrSyntax, "64 bits"},
		{"10^400", one(`"dtype":"U8","shape":[1` + strings.Repeat("0", 400) + `],"data_offsets":[0,0]`), ErrSyntax, "64 bits"},
		{"three offsets", one(`"dtype":"U8","shape":[1],"data_offsets":[0,1,1]`), ErrSyntax, "found more"},
		{"no offset", one(`"dtype":"U8","shape":[1],"data_offsets":[]`), ErrSyntax, "found 0"},
		{"shape twice", one(`"shape":[1],` + good), ErrDuplicateKey, `"shape"`},
		{"offsets twice, escaped", one(`"data\u005foffsets":[0,1],` + good), ErrDuplicateKey, `"data_offsets"`},
		{"unknown field twice", one(`"x":1,"x":1,` + good), ErrDuplicateKey, `"x"`},
		{"unknown field out of range", one(`"x":1e999,` + good), ErrSyntax, "1e999"},
		{"unknown field broken", one(`"x":tru,` + good), ErrSyntax, "want a value"},
		{"unknown field nested deep", one(`"x":` + strings.Repeat("[", 1e6) + `,` + good), ErrSyntax, "nested too deep"},
		{"half a byte", one(`"dtype":"F4","shape":[1],"data_offsets":[0,1]`), ErrPartialByte, "1 elements of 4 bits"},
		{"six bits", one(`"dtype":"F6_E2M3","shape":[2],"data_offsets":[0,2]`), ErrPartialByte, "2 elements of 6 bits"},
		{"bits overflow", one(`"dtype":"U8","shape":[2305843009213693952],"data_offsets":[0,2305843009213693952]`), ErrOverflow, ""},
		{"hole", `{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[],"data_offsets":[2,3]}}`,
			ErrOffsets, `tensor "b": invalid data_offsets: [2, 3] leaves a hole, want begin 1`},
		{"overlap", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`,
			ErrOffsets, `tensor "b": invalid data_offsets: [1, 3] overlaps tensor "a", want begin 2`},
		{"empty tensor inside another", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`,
			ErrOffsets, "overlaps"},
		{"data missing", one(`"dtype":"U8","shape":[2],"data_offsets":[0,2]`), ErrTruncated, "tensors end at 2, the file has 1 bytes of data"},
		{"metadata of numbers", `{"__metadata__":{"a":1}}`, ErrSyntax, `__metadata__: key "a"`},
		{"metadata nested", `{"__metadata__":{"a":{}}}`, ErrSyntax, `__metadata__: key "a"`},
		{"metadata is a string", `{"__metadata__":"a"}`, ErrSyntax, "__metadata__: "},
		{"metadata key twice", `{"__metadata__":{"a":"1","\u0061":"1"}}`, ErrDuplicateKey, `"a"`},
		{"metadata twice, escaped", `{"__metadata__":null,"\u005f_metadata__":null}`, ErrDuplicateKey, "__metadata__"},
		{"many dimensions", one(`"dtype":"U8","shape":[` + strings.Repeat("2,", 63) + `2],"data_offsets":[0,1]`), ErrOverflow,
			"shape overflows at dimension 63 of [2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2]… (64 dimensions)"},
		{"name cut inside a letter", `{"a` + strings.Repeat("é", 100) + `":1}`, ErrSyntax, `é"… (201 bytes)`},
		{"long name", `{"` + strings.Repeat("é", 1e5) + `":1}`, ErrSyntax, "… (200000 bytes)"},
	} {
		data := raw(c.header, 1)
		_, err := Parse(data, nil)
		if !errors.Is(err, c.want) || err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: error %v, want %v … %s", c.name, err, c.want, c.message)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: a message of %d bytes", c.name, len(err.Error()))
		}
	}
}

func TestHeaderAccepted(t *testing.T) {
	for _, c := range []struct {
		name, header string
		want         []Tensor
		metadata     map[string]string
	}{
		{"white space", "{ \"t\" :\t{\"dtype\" : \"U8\" ,\r\n\"shape\":[ ] , \"data_offsets\":[ 0 , 1 ] } } \n\t",
			[]Tensor{{Name: "t", DType: U8, Shape: []uint64{}, Data: []byte{7}}}, nil},
		{"unknown fields", one(`"x":[1,-2.5e-3,{"a":null,"a":true},false,"\n"],"dtype":"U8","shape":[1,1],"data_offsets":[0,1],"y":{}`),
			[]Tensor{{Name: "t", DType: U8, Shape: []uint64{1, 1}, Data: []byte{7}}}, nil},
		{"escapes", `{"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00\u0000é":{"dtype":"\u0055\u0038","shape":[1],"data_offsets":[0,1]}}`,
			[]Tensor{{Name: "\"\\/\b\f\n\r\té😀\x00é", DType: U8, Shape: []uint64{1}, Data: []byte{7}}}, nil},
		{"metadata null", `{"__metadata__":null,"t":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}`,
			[]Tensor{{Name: "t", DType: BOOL, Shape: []uint64{}, Data: []byte{7}}}, nil},
		{"metadata", `{"t":{"dtype":"F4","shape":[1,2],"data_offsets":[0,1]},"__metadata__":{"":"","é":"\u0000"}}`,
			[]Tensor{{Name: "t", DType: F4, Shape: []uint64{1, 2}, Data: []byte{7}}}, map[string]string{"": "", "é": "\x00"}},
		{"empty tensors around", `{"c":{"dtype":"F64","shape":[0],"data_offsets":[1,1]},"b":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"F32","shape":[3,0],"data_offsets":[0,0]}}`,
			[]Tensor{{Name: "a", DType: F32, Shape: []uint64{3, 0}, Data: []byte{}},
				{Name: "b", DType: I8, Shape: []uint64{1}, Data: []byte{7}},
				{Name: "c", DType: F64, Shape: []uint64{0}, Data: []byte{}}}, nil},
	} {
		f, err := Parse(raw(c.header, 7), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []Tensor
		for tensor, err := range f.Tensors() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tensor)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.metadata, f.Metadata()); diff != "" {
			t.Errorf("%s: metadata: %s", c.name, diff)
		}
	}
}

// A header with every dtype of the format.
func TestEveryDType(t *testing.T) {
	var header strings.Builder
	offset := 0
	for d := BOOL; d <= U64; d++ {
		name := d.String()
		if back, err := ParseDType(name); err != nil || back != d {
			t.Errorf("ParseDType(%q) = %v, %v", name, back, err)
		}
		fmt.Fprintf(&header, `,%q:{"dtype":%q,"shape":[4],"data_offsets":[%d,%d]}`, name, name, offset, offset+d.Bits()/2)
		offset += d.Bits() / 2
	}
	f, err := Parse(raw("{"+header.String()[1:]+"}", bytesUpTo(offset)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Names()) != 22 {
		t.Errorf("%d dtypes, the format has 22", len(f.Names()))
	}
	for d := BOOL; d <= U64; d++ {
		tensor, err := f.Tensor(d.String())
		if err != nil || tensor.DType != d || len(tensor.Data) != d.Bits()/2 {
			t.Errorf("%v: %v, %v", d, tensor, err)
		}
	}
	for _, name := range []string{"", "F128", "f32", "F8", strings.Repeat("F", 1000)} {
		if d, err := ParseDType(name); !errors.Is(err, ErrDType) || d != 0 {
			t.Errorf("ParseDType(%q) = %v, %v", name, d, err)
		}
	}
	if d := DType(200); d.String() != "DType(200)" || d.Bits() != 0 || DType(0).Bits() != 0 {
		t.Error("a value that is no dtype has a size")
	}
	if _, err := DType(0).Bytes(nil); !errors.Is(err, ErrDType) {
		t.Error(err)
	}
}

// Headers of megabytes, each of one kind of part, are read, and what is
// allocated for them stays in proportion to their length.
func TestLongHeaders(t *testing.T) {
	long := func(n int, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	const n = 200_000
	for name, header := range map[string]string{
		"tensors": "{" + long(n, func(i int) string {
			return fmt.Sprintf(`"t%d":{"dtype":"U8","shape":[],"data_offsets":[%d,%d]}`, i, n-1-i, n-i)
		}) + "}",
		"metadata":   `{"__metadata__":{` + long(n, func(i int) string { return fmt.Sprintf(`"k%d":""`, i) }) + "}}",
		"dimensions": one(`"dtype":"U8","shape":[` + long(n, func(int) string { return "1" }) + `],"data_offsets":[0,1]`),
		"fields": one(long(n, func(i int) string { return fmt.Sprintf(`"x%d":[]`, i) }) +
			`,"dtype":"U8","shape":[],"data_offsets":[0,1]`),
		"escapes": `{"__metadata__":{"k":"` + strings.Repeat(`\u0041\n`, n) + `"}}`,
		"spaces":  "{" + strings.Repeat(" ", 20*n) + "}",
	} {
		size := 0
		switch name {
		case "tensors":
			size = n
		case "dimensions", "fields":
			size = 1
		}
		data := raw(header, make([]byte, size)...)
		before := totalAlloc()
		if _, err := Parse(data, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if grown := totalAlloc() - before; grown > 40*uint64(len(header)) {
			t.Errorf("%s: %d bytes allocated for a header of %d", name, grown, len(header))
		} else {
			t.Logf("%s: %.1f bytes allocated per byte", name, float64(grown)/float64(len(header)))
		}
	}
}
