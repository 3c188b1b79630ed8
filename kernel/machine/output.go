package machine

import "strings"

// bootLine is what the kernel says before init starts.
const bootLine = "Leveret: boot OK"

// ProgramOutput is what the program wrote on the console: what stands between
// the kernel's first and last line, without lines that the kernel wrote itself,
// and with the line ends of files.
func ProgramOutput(console []byte) string {
	_, text, found := strings.Cut(strings.ReplaceAll(string(console), "\r\n", "\n"), bootLine+"\n")
	if !found {
		return ""
	}
	if i := strings.LastIndex(text, "EXIT status="); i >= 0 {
		text = text[:i]
	}
	// The program's last line may have no end.
	if i := strings.LastIndex(text, "ACCT pid=1 faults"); i >= 0 {
		text = text[:i]
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !ofKernel(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// ofKernel tells whether a line of the console is the kernel's own.
func ofKernel(line string) bool {
	for _, prefix := range []string{"core: ", "services: ", "Leveret: ", "MEM ", "SELFTEST ", "CPUS ", "CPU ", "TICKS ", "PROTECT ", "ACCT "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
