//go:build amd64

package main

import "github.com/leveret-os/leveret/kernel/core/x86"

// The console is the first serial port, a 16550 (National Semiconductor,
// PC16550D data sheet).
const (
	com1 = 0x3f8

	uartData      = com1
	uartInterrupt = com1 + 1
	uartFIFO      = com1 + 2
	uartLine      = com1 + 3
	uartModem     = com1 + 4
	uartStatus    = com1 + 5

	statusData  = 0x01 // a byte came in
	statusEmpty = 0x20 // room for fifoSize bytes

	fifoSize = 16
)

// consoleRoom is how many bytes can be sent without looking.
var consoleRoom uint64

// initConsole makes the port 8N1 with its FIFOs on, and polled.
func initConsole() {
	x86.Outb(uartInterrupt, 0)
	x86.Outb(uartLine, 3)
	// Switching the FIFOs on drops what has come. In loopback the emulator's port
	// asks for no further byte when one is taken, so that none comes in between.
	x86.Outb(uartModem, 0x10)
	takeInput()
	x86.Outb(uartFIFO, 7)
	x86.Outb(uartModem, 3) // DTR, RTS
}

func putc(b byte) {
	if consoleRoom == 0 {
		for x86.Inb(uartStatus)&statusEmpty == 0 {
			x86.Pause()
		}
		consoleRoom = fifoSize
	}
	consoleRoom--
	x86.Outb(uartData, b)
}

// drainConsole waits until the port has sent everything.
func drainConsole() {
	for range 1000000 {
		if x86.Inb(uartStatus)&0x60 == 0x60 {
			return
		}
		x86.Pause()
	}
}

// putKept writes a byte, and keeps it in the log.
func putKept(b byte) {
	keep(b)
	putc(b)
}

func puts(s string) {
	for i := range len(s) {
		if s[i] == '\n' {
			putc('\r')
		}
		putKept(s[i])
	}
}

// putBytes writes n bytes at an address of core's as they are.
func putBytes(at, n uint64) {
	for i := uint64(0); i < n; i++ {
		putKept(rd8(at + i))
	}
}

func puthex(v uint64) {
	puts("0x")
	shift := uint(60)
	for shift > 0 && v>>shift == 0 {
		shift -= 4
	}
	for ; ; shift -= 4 {
		putKept("0123456789abcdef"[v>>shift&15])
		if shift == 0 {
			return
		}
	}
}

func putdec(v uint64) {
	if v >= 10 {
		putdec(v / 10)
	}
	putKept('0' + byte(v%10))
}

func kv(k string, v uint64) { puts(k); puthex(v) }

// Bytes that came in wait in a ring until services read them. What does not
// fit is lost, as at a port without flow control.
const inputSize = 4096

var (
	input                [inputSize]byte
	inputHead, inputTail uint64
	inputLost            uint64
)

// listenConsole makes the port interrupt when bytes come in.
func listenConsole(c *CPU) {
	x86.Outb(uartModem, 0xb) // and OUT2, which lets the interrupt through
	x86.Outb(uartInterrupt, 1)
	if inputHead != inputTail {
		consoleReady(c)
	}
}

// consoleInterrupt takes what came in.
func consoleInterrupt(c *CPU) {
	if takeInput() {
		consoleReady(c)
	}
}

// takeInput empties the port, and reports whether there was something that fits.
func takeInput() bool {
	got := false
	for range inputSize { // a port that is not there has always something
		if x86.Inb(uartStatus)&statusData == 0 {
			break
		}
		b := x86.Inb(uartData)
		if inputHead-inputTail < inputSize {
			input[inputHead%inputSize] = b
			inputHead++
			got = true
		} else {
			inputLost++
		}
	}
	return got
}

// consoleGet returns the next byte that came in.
func consoleGet() (b byte, ok bool) {
	if inputHead == inputTail {
		return 0, false
	}
	b = input[inputTail%inputSize]
	inputTail++
	return b, true
}
