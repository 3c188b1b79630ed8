//go:build amd64

package main

import (
	"bufio"
	"strings"

	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/hyper"
	"github.com/leveret-os/leveret/kernel/services/initramfs"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/vfs"
)

// exportWord on the command line names a file or folder that goes to the host
// when init ends; it may be there several times.
const exportWord = "leveret.export="

// exportFiles writes what the command line names to the host, as one archive.
func exportFiles(k *calls.Kernel) {
	var paths []string
	for _, w := range hyper.Split(hyper.CommandLine()) {
		if w == "--" {
			break
		}
		if path, ok := strings.CutPrefix(w, exportWord); ok {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 || !(ring0.Export{}).There() {
		return
	}
	root := k.NS.Root()
	c := vfs.Caller{Cred: &vfs.Cred{}, Root: root, Cwd: root}
	w := bufio.NewWriterSize(ring0.Export{}, 1<<16)
	if err := initramfs.Write(w, k.NS, &c, paths...); err != nil {
		say("export: " + err.Error())
		return // without the archive's end, by which the host knows it
	}
	w.Flush()
}
