//go:build !nommap && (darwin || freebsd || netbsd || openbsd || dragonfly)

package safetensors

// adviseHuge does nothing: these systems choose page sizes by themselves.
func adviseHuge([]byte) {}
