//go:build amd64

package main

// In entry_amd64.s: addresses of entry points, and the bounds of the image.
func symbols() (sysEntry, idle, text, end uint64)
