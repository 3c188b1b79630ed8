package bpe

import "unicode/utf8"

// Byte-level models spell each byte by one printable character: the printable
// ones of Latin-1 stand for themselves, the other 68 bytes by U+0100 onwards in
// order. From the encoder.py of GPT-2 (bytes_to_unicode).
var (
	byteToRune [256]rune
	runeToByte [0x144]int16 // -1 where the character stands for no byte
)

func init() {
	for i := range runeToByte {
		runeToByte[i] = -1
	}
	next := rune(0x100)
	for b := range byteToRune {
		r := rune(b)
		if !('!' <= r && r <= '~' || 0xA1 <= r && r <= 0xAC || 0xAE <= r) {
			r = next
			next++
		}
		byteToRune[b] = r
		runeToByte[r] = int16(b)
	}
}

// appendMapped appends the bytes of s in the byte alphabet.
func appendMapped(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = utf8.AppendRune(dst, byteToRune[s[i]])
	}
	return dst
}

// appendUnmapped appends the bytes that a token of the byte alphabet stands
// for. A token with any other character stands for its own UTF-8 bytes.
func appendUnmapped(dst, token []byte) []byte {
	start := len(dst)
	for i := 0; i < len(token); {
		r, n := rune(token[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(token[i:])
		}
		if int(r) >= len(runeToByte) || runeToByte[r] < 0 {
			return append(dst[:start], token...)
		}
		dst = append(dst, byte(runeToByte[r]))
		i += n
	}
	return dst
}
