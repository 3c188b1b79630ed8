//go:build amd64

package main

// In boot_amd64.s.

// symbols returns addresses of entry points, and the bounds of the image.
func symbols() (sysEntry, idle, text, end uint64)

// loadTables loads the GDT register from memory and the task register.
func loadTables(gdtr, tss uint64)

// In trap_amd64.s.

// framePointer returns the frame pointer of the caller.
func framePointer() uint64
