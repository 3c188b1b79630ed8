//go:build amd64

package main

// The command line is Linux's kind: words separated by spaces, NAME or
// NAME=VALUE, double quotes around what has spaces; what follows -- is for
// init (Linux, Documentation/admin-guide/kernel-parameters.rst).
var (
	cmdline    [4096]byte
	cmdlineLen uint64

	quiet    bool // say nothing on the console
	selftest bool // run the self-tests before init
	traceSys bool // print system calls

	accountAll bool // account for the time of every call
)

// copyCmdline takes the command line at an address, up to its NUL.
func copyCmdline(at uint64) {
	for cmdlineLen < uint64(len(cmdline)) {
		b := rd8(at + cmdlineLen)
		if b == 0 {
			return
		}
		cmdline[cmdlineLen] = b
		cmdlineLen++
	}
}

// readCmdline looks for the words that are core's own.
func readCmdline() {
	quiet = cmdlineHas("quiet")
	selftest = cmdlineHas("selftest")
	traceSys = cmdlineHas("strace=1")
	dumpOnNMI = cmdlineHas("nmi=threads")
	accountAll = cmdlineHas("acct=full")
}

// nextWord returns the word that begins at or after i: its start and end, both
// the line's length when there is none.
func nextWord(i uint64) (start, end uint64) {
	for i < cmdlineLen && cmdline[i&4095] == ' ' {
		i++
	}
	start = i
	quoted := false
	for i < cmdlineLen && (quoted || cmdline[i&4095] != ' ') {
		if cmdline[i&4095] == '"' {
			quoted = !quoted
		}
		i++
	}
	return start, i
}

// kernelWord finds the last word before -- that is name, or begins with name
// and "=": where its value begins and ends.
func kernelWord(name string) (start, end uint64, ok bool) {
	n := uint64(len(name))
	for i := uint64(0); ; {
		s, e := nextWord(i)
		if s == e || e-s == 2 && wordIs(s, "--") {
			return start, end, ok
		}
		if e-s >= n && wordIs(s, name) {
			if e-s == n {
				start, end, ok = e, e, true
			} else if cmdline[(s+n)&4095] == '=' {
				start, end, ok = s+n+1, e, true
			}
		}
		i = e
	}
}

// wordIs reports whether the line has s at i.
func wordIs(i uint64, s string) bool {
	for j := range len(s) {
		if cmdline[(i+uint64(j))&4095] != s[j] {
			return false
		}
	}
	return true
}

// cmdlineHas reports whether the word w is there, NAME=VALUE as a whole.
func cmdlineHas(w string) bool {
	n := uint64(len(w))
	for i := uint64(0); ; {
		s, e := nextWord(i)
		if s == e || e-s == 2 && wordIs(s, "--") {
			return false
		}
		if e-s == n && wordIs(s, w) {
			return true
		}
		i = e
	}
}

// cmdlineNumber returns the value of NAME=DIGITS.
func cmdlineNumber(name string) (v uint64, ok bool) {
	s, e, ok := kernelWord(name)
	if !ok || s == e {
		return 0, false
	}
	for ; s < e; s++ {
		d := uint64(cmdline[s&4095] - '0')
		if d > 9 || v > 1<<60 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}
