package tools

import (
	"io/fs"
	"os"

	"github.com/leveret-os/leveret/pkg/agent"
)

// FilesOptions say what the file tools do. The zero value, and nil, are the
// defaults.
type FilesOptions struct {
	// ReadOnly leaves out write_file.
	ReadOnly bool
	// MaxRead is the most bytes that one call of read_file returns; 0 means
	// 65,536. The agent's own limit on results is on top of that.
	MaxRead int
	// MaxWrite is the most bytes that write_file writes; 0 means 1,048,576.
	MaxWrite int
}

// Files returns the tools read_file, list_dir and write_file on a folder. They
// reach nothing outside of it, whatever links are in it, by what os.Root
// promises; mounts inside the folder, and hard links, are part of it. Devices,
// pipes and sockets are not opened.
//
// The root stays the caller's to close, after the agent.
func Files(root *os.Root, opts *FilesOptions) []agent.Tool {
	var o FilesOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxRead <= 0 {
		o.MaxRead = 1 << 16
	}
	if o.MaxWrite <= 0 {
		o.MaxWrite = 1 << 20
	}
	list := []agent.Tool{readFile(root, o.MaxRead), listDir(root)}
	if !o.ReadOnly {
		list = append(list, writeFile(root, o.MaxWrite))
	}
	return list
}

// openKind opens a file or a folder for reading if it is of the kind that good
// accepts.
func openKind(root *os.Root, name, what string, good func(fs.FileMode) bool) (*os.File, fs.FileInfo, error) {
	// Opening alone has effects on some devices, so look first, and again at
	// what was opened.
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, plain(err, what)
	}
	if !good(info.Mode()) {
		return nil, nil, kind(info.Mode())
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, plain(err, what)
	}
	info, err = f.Stat()
	if err == nil && !good(info.Mode()) {
		err = kind(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, nil, plain(err, what)
	}
	return f, info, nil
}
