//go:build amd64

package hyper

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leveret-os/leveret/kernel/abi"
	"github.com/leveret-os/leveret/kernel/services/calls"
	"github.com/leveret-os/leveret/kernel/services/ring0"
	"github.com/leveret-os/leveret/kernel/services/system"
)

// CommandLine is what the kernel was booted with.
func CommandLine() string {
	buf := make([]byte, 4096)
	n, _ := call(abi.HyperCommandLine, ring0.Address(buf), uint64(len(buf)))
	return string(buf[:min(n, uint64(len(buf)))])
}

// NewNotice makes a readiness object that tells all who wait on it to look
// again, and the function that tells them.
func NewNotice() (handle uint64, tell func()) {
	h, e := call(abi.HyperReadyCreate, 0)
	if e != 0 {
		return 0, nil
	}
	return h, func() {
		call(abi.HyperReadyPost, h, unix.POLLIN, 0)
		call(abi.HyperReadyPost, h, 0, unix.POLLIN)
	}
}

// Split cuts a kernel command line into words as Linux does: by spaces, but
// not between double quotes, which go.
func Split(line string) (words []string) {
	quoted, word, any := false, strings.Builder{}, false
	flush := func() {
		if any {
			words = append(words, word.String())
			word.Reset()
			any = false
		}
	}
	for _, c := range []byte(line) {
		switch {
		case c == '"':
			quoted, any = !quoted, true
		case !quoted && (c == ' ' || c == '\t' || c == '\n'):
			flush()
		default:
			word.WriteByte(c)
			any = true
		}
	}
	flush()
	return words
}

// InitWords are the program, its arguments and its environment, from a kernel
// command line: rdinit= names the program, the words after -- are arguments,
// and what core does not know (VAR=value) is environment. leveret.args=, in
// base64 with NULs between, are arguments that cannot stand behind -- because of
// a double quote.
func InitWords(line string) (program string, args, env []string) {
	program = "/init"
	env = []string{"HOME=/", "TERM=linux"}
	words := Split(line)
	for i, w := range words {
		if w == "--" {
			args = append(args, words[i+1:]...)
			break
		}
		name, value, found := strings.Cut(w, "=")
		switch {
		case name == "rdinit" && found:
			program = value
		case name == "leveret.args" && found:
			if b, err := base64.RawURLEncoding.DecodeString(value); err == nil {
				args = strings.Split(string(b), "\x00")
			}
		case found && name != "" && strings.ToUpper(name) == name && !strings.ContainsAny(name, ".-"):
			// A name that is there already gets the new value, in its place.
			i := slices.IndexFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
			if i < 0 {
				env = append(env, w)
			} else {
				env[i] = w
			}
		}
	}
	args = append([]string{program}, args...)
	return program, args, env
}

// StartInit makes process 1 and has core run it.
func StartInit(k *calls.Kernel) error {
	program, args, env := InitWords(CommandLine())
	p, err := system.Init(k, program)
	if err != nil {
		return err
	}
	i := p.Exe.Inode()
	if i.Data == nil {
		return fmt.Errorf("%s: %w", program, unix.EACCES)
	}
	i.Acquire() // for as long as it runs
	i.Execute()
	p.Comm = program[strings.LastIndexByte(program, '/')+1:]
	var block []byte
	for n, list := range [2][]string{args, env} {
		for _, s := range list {
			block = append(append(block, s...), 0)
		}
		if n == 0 {
			block = append(block, 0)
		}
	}
	p.FindLimits(func() *[16][2]uint64 {
		at, e := call(abi.HyperLimits, 1)
		if e != 0 {
			return nil
		}
		return ring0.Limits(at)
	})
	if _, e := call(abi.HyperStartInit, i.Data.Handle(), p.Files().Handle, ring0.Address(block), uint64(len(block))); e != 0 {
		return fmt.Errorf("%s: %w", program, e)
	}
	return nil
}
