package simd

// Decode converts len(dst) weights in the format f to float32, exactly.
func Decode(f Float, dst []float32, w []byte) { decodeRow(f, dst, w) }
