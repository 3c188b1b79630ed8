// Package quant writes and reads matrices of weights in the block formats that
// internal/simd multiplies: Q8B32, Q4B32 and Q4B32M.
//
// Blocks of 32 consecutive weights of a row share a scale, in Q4B32M a scale
// and a minimum, both IEEE 754 binary16. Matrices are stored in tiles of 16
// rows; docs/quantization.md gives the bytes, and the metadata of checkpoints
// that hold them. Encode finds the scales of the least squared error; the
// functions From… take over blocks of GGUF files without changing a value.
package quant
