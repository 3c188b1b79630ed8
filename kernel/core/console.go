//go:build amd64

package main

import (
	"github.com/leveret-os/leveret/kernel/core/x86"
)

func putc(c byte) {
	for x86.Inb(com1+5)&0x20 == 0 {
	}
	x86.Outb(com1, c)
}

func puts(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			putc('\r')
		}
		putc(s[i])
	}
}

func puthex(v uint64) {
	puts("0x")
	n := 60
	for n > 0 && v>>uint(n) == 0 {
		n -= 4
	}
	for ; n >= 0; n -= 4 {
		putc("0123456789abcdef"[v>>uint(n)&15])
	}
}

func putdec(v uint64) {
	var b [20]byte
	i := uint(len(b))
	for {
		i--
		if i < uint(len(b)) {
			b[i] = '0' + byte(v%10)
		}
		v /= 10
		if v == 0 || i == 0 {
			break
		}
	}
	for ; i < uint(len(b)); i++ {
		putc(b[i])
	}
}

func kv(k string, v uint64) { puts(k); puthex(v) }

const com1 = 0x3f8
