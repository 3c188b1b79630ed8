//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/pagetable"

// pPA selects the physical address of an entry of a page table.
const pPA = pagetable.Address

// walk returns the direct-map address of the entry that maps a, 0 if nothing
// does.
func walk(pml4, a uint64) uint64 {
	m := pagetable.Map{Root: pml4}
	slot, _ := m.Lookup(a)
	if *slot&pagetable.Present == 0 {
		return 0
	}
	return addressOf(slot)
}
