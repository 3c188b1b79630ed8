//go:build (darwin || freebsd || netbsd || openbsd || dragonfly) && !nommap

package checkpoint

const noReserve = 0 // memory is only counted where it is used

// adviseHuge does nothing: these systems choose page sizes by themselves.
func adviseHuge(memory) {}

// forget does nothing: MADV_DONTNEED has another meaning on these systems.
func forget(memory) {}
