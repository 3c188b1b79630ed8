//go:build unix && !linux && !aix && !solaris && !nommap

package simd

const noReserve = 0 // memory is only counted where it is used
