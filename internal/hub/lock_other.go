//go:build !unix

package hub

import (
	"context"
	"os"
)

// lock does nothing where the system has no flock: two pulls of one checkpoint
// at a time then spoil each other's parts, which the digests find.
func lock(context.Context, *os.Root, string) (func(), error) { return func() {}, nil }
