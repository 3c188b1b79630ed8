package main

import (
	"encoding/json"
	"os"

	"github.com/leveret-os/leveret/kernel/machine"
)

// writeReport writes a run as one JSON object: times in seconds, memory in
// bytes, the account's as the kernel prints it, in ns.
func writeReport(file string, r machine.Result, runErr error) error {
	v := struct {
		Status      int              `json:"status"`
		Signal      int              `json:"signal,omitempty"`
		Error       string           `json:"error,omitempty"`
		Wall        float64          `json:"seconds"`
		FirstByte   float64          `json:"first_byte_seconds"`
		FirstOutput float64          `json:"first_output_seconds"`
		PeakRAM     int64            `json:"peak_ram_bytes"`
		Account     *machine.Account `json:"account,omitempty"`
		Command     []string         `json:"command"`
	}{
		Status: r.Status, Signal: r.Signal, Wall: r.Wall.Seconds(), FirstByte: r.FirstByte.Seconds(),
		FirstOutput: r.FirstOutput.Seconds(), PeakRAM: r.PeakRAM, Command: r.Command,
	}
	if runErr != nil {
		v.Status, v.Error = exitFailed, runErr.Error()
	}
	if a, ok := machine.ParseAccount(r.Console); ok {
		v.Account = &a
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
