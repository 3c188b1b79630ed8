//go:build !amd64

package main

import "errors"

// fourThreads is for x86_64 so far, as the kernels compared are.
func fourThreads() error { return errors.ErrUnsupported }

func blockSignals() (unblock func(), err error) { return nil, errors.ErrUnsupported }
