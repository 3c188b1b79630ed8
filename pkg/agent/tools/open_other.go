//go:build !unix

package tools

const openFlags = 0
