package main

import "unsafe"

// address is where b's bytes lie.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
