package quant_test

import (
	"encoding/binary"
	"fmt"

	"github.com/leveret-os/leveret/pkg/quant"
)

func ExampleEncode() {
	const rows, cols = 2, 64
	weights := make([]float32, rows*cols)
	for i := range weights {
		weights[i] = float32(i%7-3) / 10
	}
	data := make([]byte, quant.Q8B32.Bytes(rows, cols))
	err := quant.Encode(data, quant.Q8B32, rows, cols, func(r int, dst []float32) error {
		copy(dst, weights[r*cols:])
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float32, cols)
	quant.Decode(row, quant.Q8B32, data, rows, cols, 1)
	fmt.Printf("%d bytes; weight 4 of row 1: %.2f, decoded %.2f\n", len(data), weights[cols+4], row[4])
	// Output: 1088 bytes; weight 4 of row 1: 0.20, decoded 0.20
}

func ExampleDecode() {
	// One row of one block: a scale of 0.5 and quants 128+i, in a tile of 16 rows.
	tile := make([]byte, quant.Q8B32.Bytes(1, 32))
	binary.LittleEndian.PutUint16(tile, 0x3800)
	for i := range 32 {
		tile[64+64*(i/4)+i%4] = byte(128 + i)
	}
	row := make([]float32, 32)
	quant.Decode(row, quant.Q8B32, tile, 1, 32, 0)
	fmt.Println(row[:5])
	// Output: [0 0.5 1 1.5 2]
}

func ExampleParseFormat() {
	f, err := quant.ParseFormat("q4b32m")
	fmt.Println(f, f.BitsPerWeight(), err)
	_, err = quant.ParseFormat("q5")
	fmt.Println(err)
	// Output:
	// Q4B32M 5 <nil>
	// unknown block format "q5": expected q8b32, q4b32 or q4b32m
}

func ExampleFormats() {
	for _, f := range quant.Formats() {
		fmt.Println(f, f.Bytes(576, 1536), f.Shape(576, 1536))
	}
	// Output:
	// Q8B32 940032 [36 26112]
	// Q4B32 497664 [36 13824]
	// Q4B32M 552960 [36 15360]
}

func ExampleParseMetadata() {
	m := quant.Metadata{"lm_head.weight": {Format: quant.Q8B32, Rows: 49152, Cols: 576}}
	fmt.Println(m)
	back, err := quant.ParseMetadata(m.String())
	fmt.Println(back["lm_head.weight"].Bytes(), err)
	// Output:
	// {"format":"leveret-blocks","version":1,"tensors":{"lm_head.weight":{"type":"Q8B32","shape":[49152,576]}}}
	// 30081024 <nil>
}

// ggufRow returns one row of 32 weights as a GGUF block: 16-bit parameters, then quants.
func ggufRow(quants int, params ...uint16) []byte {
	var b []byte
	for _, p := range params {
		b = binary.LittleEndian.AppendUint16(b, p)
	}
	for i := range quants {
		b = append(b, byte(i))
	}
	return b
}

func Example_fromQ8_0() {
	src := ggufRow(32, 0x3800) // scale 0.5
	data := make([]byte, quant.Q8B32.Bytes(1, 32))
	err := quant.FromQ8_0(data, 1, 32, src, nil)
	row := make([]float32, 32)
	quant.Decode(row, quant.Q8B32, data, 1, 32, 0)
	fmt.Println(row[:4], err)
	// Output: [0 0.5 1 1.5] <nil>
}

func Example_fromQ4_0() {
	src := ggufRow(16, 0x3800) // scale 0.5; low nibbles 0…15, high ones 0
	data := make([]byte, quant.Q4B32.Bytes(1, 32))
	err := quant.FromQ4_0(data, 1, 32, src, nil)
	row := make([]float32, 32)
	quant.Decode(row, quant.Q4B32, data, 1, 32, 0)
	fmt.Println(row[:4], err)
	// Output: [-4 -3.5 -3 -2.5] <nil>
}

func Example_fromQ4_1() {
	// Two rows, the second one first: as Q and K projections are reordered.
	src := append(ggufRow(16, 0x3800, 0x3c00), ggufRow(16, 0x3800, 0x4000)...) // minimums 1 and 2
	data := make([]byte, quant.Q4B32M.Bytes(2, 32))
	err := quant.FromQ4_1(data, 2, 32, src, func(r int) int { return 1 - r })
	row := make([]float32, 32)
	quant.Decode(row, quant.Q4B32M, data, 2, 32, 0)
	fmt.Println(row[:4], err)
	// Output: [2 2.5 3 3.5] <nil>
}
