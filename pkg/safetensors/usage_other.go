//go:build nommap || !linux

package safetensors

import "errors"

func usage([]*region) (Usage, error) { return Usage{}, errors.ErrUnsupported }
