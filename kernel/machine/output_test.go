package machine

import "testing"

func TestProgramOutput(t *testing.T) {
	console := "core: tsc 2600 MHz\r\nLeveret: boot OK\r\nMEM usable=1 frames=2\r\na: EINVAL\r\nservices: up\r\nb: 3\r\nEXIT status=0\r\n"
	if got, want := ProgramOutput([]byte(console)), "a: EINVAL\nb: 3\n"; got != want {
		t.Errorf("ProgramOutput = %q, want %q", got, want)
	}
	if got := ProgramOutput([]byte("nothing")); got != "" {
		t.Errorf("ProgramOutput of a machine that did not boot = %q", got)
	}
}
