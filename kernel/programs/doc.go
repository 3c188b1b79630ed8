// Package programs has no code: its tests run programs of several languages and
// makers, unchanged, natively and on the kernel, and compare what they say and
// how they end.
package programs
