package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/leveret-os/leveret/internal/simd"
)

func versionCommand() *command {
	return &command{
		name:  "version",
		short: "show the version and revision, and this machine's instruction sets",
		declare: func(f *flags) func(context.Context, *console, []string) error {
			var asJSON bool
			f.bool(&asJSON, "json", "one JSON object")
			return func(_ context.Context, c *console, args []string) error {
				if len(args) > 0 {
					return usagef("expected no arguments, found %q", args[0])
				}
				return writeVersion(c, asJSON)
			}
		},
	}
}

// versionInfo is what `infer version --json` prints.
type versionInfo struct {
	Version  string `json:"version"`  // of the module
	Revision string `json:"revision"` // of the version control system; "" if not built from a checkout
	Time     string `json:"time"`     // of the revision
	Modified bool   `json:"modified"` // the checkout had changes on top of it
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// ISA is the instruction set that this machine runs by default, and ISAs
	// are all that it can be made to run.
	ISA  string   `json:"isa"`
	ISAs []string `json:"isas"`
}

func version() versionInfo {
	v := versionInfo{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, ISA: simd.Best().String(),
	}
	for i := simd.Best(); ; i-- {
		if simd.Supported(i) {
			v.ISAs = append(v.ISAs, i.String())
		}
		if i == simd.Portable {
			break
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func writeVersion(c *console, asJSON bool) error {
	v := version()
	if asJSON {
		return json.NewEncoder(c.stdout).Encode(v)
	}
	revision := "unknown"
	if v.Revision != "" {
		revision = v.Revision + " of " + v.Time
		if v.Modified {
			revision += ", modified"
		}
	}
	_, err := fmt.Fprintf(c.stdout, "infer %s\nrevision %s\n%s %s\ninstruction set %s (of %s)\n",
		v.Version, revision, v.Go, v.Platform, v.ISA, strings.Join(v.ISAs, ", "))
	return err
}
