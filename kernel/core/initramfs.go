//go:build amd64

package main

func hex8(p uint64) uint64 {
	var v uint64
	for i := uint64(0); i < 8; i++ {
		c := uint64(rd8(p + i))
		switch {
		case c >= 'a':
			c = c - 'a' + 10
		case c >= 'A':
			c = c - 'A' + 10
		default:
			c -= '0'
		}
		v = v<<4 | c
	}
	return v
}

func findFile(name string) bool {
	initrd := directMap + bootInfo.initramfs
	p := initrd
	for p < initrd+bootInfo.initramfsSize && match(p, "070701") {
		fs, ns := hex8(p+54), hex8(p+94)
		data := (p + 110 + ns + 3) &^ 3
		if ns == uint64(len(name))+1 && match(p+110, name) {
			fAddr, fLen = data, fs
			return true
		}
		p = (data + fs + 3) &^ 3
	}
	return false
}

func match(p uint64, s string) bool {
	for i := 0; i < len(s); i++ {
		if rd8(p+uint64(i)) != s[i] {
			return false
		}
	}
	return true
}

var (
	fAddr, fLen uint64
)
