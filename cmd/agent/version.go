package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns a line with the version of the module and of Go.
func version() string {
	v := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("agent %s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
