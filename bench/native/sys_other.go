//go:build !linux

package native

import "errors"

var errLinux = errors.New("this rig needs Linux")

func monotonic() float64      { return 0 }
func pin(int) error           { return errLinux }
func allowed() ([]int, error) { return nil, errLinux }
func kernelRelease() string   { return "" }
