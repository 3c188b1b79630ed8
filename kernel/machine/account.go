package machine

import (
	"strconv"
	"strings"
)

// Account is what a program cost the kernel, from the lines ACCT that it prints
// when init has ended: docs/kernel.md says what each figure is. Times are in ns.
type Account struct {
	Faults map[string]uint64 `json:"faults"`
	Calls  map[string]Calls  `json:"calls"`
	Time   map[string]uint64 `json:"time"`
	Memory map[string]uint64 `json:"memory"`
}

// Calls are those of one system call.
type Calls struct {
	Entry     uint64 `json:"entry,omitempty"`     // answered at the entry
	Core      uint64 `json:"core,omitempty"`      // served by core
	Forwarded uint64 `json:"forwarded,omitempty"` // served by services
	NS        uint64 `json:"ns,omitempty"`        // in core, with acct=full
}

// All is how many there were.
func (c Calls) All() uint64 { return c.Entry + c.Core + c.Forwarded }

// ParseAccount finds the account in what a console said; false when there is
// none, as with quiet.
func ParseAccount(console []byte) (a Account, ok bool) {
	text := string(console)
	// The program may have printed such lines: the kernel's come last.
	i := strings.LastIndex(text, "ACCT pid=1 faults")
	if i < 0 {
		return a, false
	}
	a = Account{Calls: map[string]Calls{}}
	for line := range strings.Lines(text[i:]) {
		words := strings.Fields(line)
		switch {
		case len(words) >= 3 && words[1] == "pid=1" && words[2] == "faults":
			a.Faults = pairs(words[3:])
		case len(words) >= 4 && words[1] == "pid=1" && words[2] == "call":
			p := pairs(words[4:])
			a.Calls[words[3]] = Calls{Entry: p["entry"], Core: p["core"], Forwarded: p["forwarded"], NS: p["ns"]}
		case len(words) >= 3 && words[1] == "pid=1" && words[2] == "time":
			a.Time = pairs(words[3:])
		case len(words) >= 2 && words[0] == "ACCT" && words[1] == "memory":
			a.Memory = pairs(words[2:])
		}
	}
	return a, true
}

func pairs(words []string) map[string]uint64 {
	m := map[string]uint64{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		m[name], _ = strconv.ParseUint(value, 10, 64)
	}
	return m
}
