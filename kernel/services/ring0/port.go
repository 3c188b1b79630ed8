//go:build amd64

package ring0

func out(port uint16, v uint8)
func in(port uint16) (v uint8)

// exportPort is QEMU's isa-debugcon device, which puts what is written to it
// into a file of the host, and answers its own number.
const exportPort = 0xe9

// Export writes to the host's file; without the device what is written is lost.
type Export struct{}

// There reports whether the machine has the device.
func (Export) There() bool { return in(exportPort) == exportPort }

// Write implements io.Writer.
func (Export) Write(p []byte) (int, error) {
	for _, b := range p {
		out(exportPort, b)
	}
	return len(p), nil
}
