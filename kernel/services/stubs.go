//go:build amd64

package main

func recv(reply uint64) (frame uint64)
func ucopy(dst, src, n uintptr) (ok uint64)
func ucopyPad(dst, src, n uintptr) (ok uint64)
func ucopyRange() (lo, hi, pad uintptr)
