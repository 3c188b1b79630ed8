package image

// instruction is what the checks need to know of one x86-64 instruction.
type instruction struct {
	size     int
	opcode   uint32 // 0x0f.. and 0x0f38.., 0x0f3a.. with their escapes
	segment  byte   // 0x64 (FS), 0x65 (GS) or 0
	repeat   byte   // 0xf2, 0xf3 or 0
	operand  bool   // 0x66
	rex      byte
	modrm    byte
	hasModRM bool
	vex      bool // VEX or EVEX
	relative int  // size of a relative jump's offset, its last bytes; or 0
}

// reg is the register that the ModRM byte's reg field names.
func (i *instruction) reg() int { return int(i.modrm>>3&7) | int(i.rex&4)<<1 }

// rm is the register that its rm field names, or -1: memory.
func (i *instruction) rm() int {
	if i.modrm>>6 != 3 {
		return -1
	}
	return int(i.modrm&7) | int(i.rex&1)<<3
}

// decode finds the first instruction of code (SDM vol. 2, chapter 2 and
// appendix A). It is false for what is no instruction in 64-bit mode, or is cut
// short.
func decode(code []byte) (i instruction, ok bool) {
	at := 0
	next := func() byte {
		if at < len(code) {
			at++
			return code[at-1]
		}
		at++
		return 0
	}
	b := next()
prefixes:
	for {
		switch b {
		case 0x64, 0x65:
			i.segment = b
		case 0xf2, 0xf3:
			i.repeat = b
		case 0x66:
			i.operand = true
		case 0xf0, 0x67, 0x2e, 0x36, 0x3e, 0x26:
		default:
			break prefixes
		}
		b = next()
	}
	if b&0xf0 == 0x40 {
		i.rex = b
		b = next()
	}
	i.opcode = uint32(b)
	immediate := 0
	switch {
	case b == 0xc4 || b == 0xc5 || b == 0x62:
		i.vex = true
		opcodes := byte(1) // which map
		if b != 0xc5 {
			opcodes = next() & 7
		}
		at += map[byte]int{0xc5: 1, 0xc4: 1, 0x62: 2}[b]
		b = next()
		i.opcode = map[byte]uint32{1: 0x0f00, 2: 0x0f3800, 3: 0x0f3a00}[opcodes] | uint32(b)
		i.hasModRM, ok = b != 0x77 || opcodes != 1, opcodes >= 1 && opcodes <= 3
		if opcodes == 3 || opcodes == 1 && (b >= 0x70 && b <= 0x73 || b == 0xc2 || b >= 0xc4 && b <= 0xc6) {
			immediate = 1
		}
	case b != 0x0f:
		i.hasModRM, immediate, ok = oneByte(b, &i)
	default:
		b = next()
		i.opcode = 0x0f00 | uint32(b)
		if b == 0x38 || b == 0x3a {
			i.opcode = i.opcode<<8 | uint32(next())
			i.hasModRM, ok = true, true
			if b == 0x3a {
				immediate = 1
			}
			break
		}
		i.hasModRM, immediate, ok = twoByte(b, &i)
	}
	if i.hasModRM {
		i.modrm = next()
		if b == 0xf6 && i.opcode == 0xf6 && i.modrm>>3&7 < 2 {
			immediate = 1
		}
		if b == 0xf7 && i.opcode == 0xf7 && i.modrm>>3&7 < 2 {
			immediate = 4
			if i.operand {
				immediate = 2
			}
		}
		if i.opcode >= 0x0f20 && i.opcode <= 0x0f23 { // control and debug registers
			i.modrm |= 0xc0
		}
		mod, rm := i.modrm>>6, i.modrm&7
		base := rm
		if mod != 3 && rm == 4 {
			base = next() & 7
		}
		switch {
		case mod == 1:
			at++
		case mod == 2, mod == 0 && (base == 5):
			at += 4
		}
	}
	at += immediate
	i.size = at
	return i, ok && at <= len(code)
}

// oneByte tells of a one-byte opcode whether a ModRM byte follows and how many
// bytes of immediate.
func oneByte(b byte, i *instruction) (modrm bool, immediate int, ok bool) {
	full := 4
	if i.operand {
		full = 2
	}
	switch {
	case b < 0x40:
		switch b & 7 {
		case 0, 1, 2, 3:
			return true, 0, true
		case 4:
			return false, 1, true
		case 5:
			return false, full, true
		}
		return false, 0, false
	case b >= 0x50 && b < 0x60, b >= 0x6c && b <= 0x6f, b >= 0x90 && b <= 0x99, b >= 0x9b && b <= 0x9f,
		b >= 0xa4 && b <= 0xa7, b >= 0xaa && b <= 0xaf, b == 0xc3, b == 0xc9, b == 0xcb, b == 0xcc, b == 0xcf, b == 0xd7,
		b >= 0xec && b <= 0xef, b == 0xf1, b == 0xf4, b == 0xf5, b >= 0xf8 && b <= 0xfd:
		return false, 0, true
	case b == 0x63, b >= 0x84 && b <= 0x8f, b >= 0xd0 && b <= 0xd3, b >= 0xd8 && b <= 0xdf, b == 0xf6, b == 0xf7, b == 0xfe, b == 0xff:
		return true, 0, true
	case b == 0x68, b == 0xa9:
		return false, full, true
	case b == 0x69, b == 0x81, b == 0xc7:
		return true, full, true
	case b == 0x6b, b == 0x80, b == 0x83, b == 0xc0, b == 0xc1, b == 0xc6:
		return true, 1, true
	case b >= 0x70 && b < 0x80, b >= 0xe0 && b <= 0xe3, b == 0xeb:
		i.relative = 1
		return false, 1, true
	case b == 0xe8, b == 0xe9:
		i.relative = 4
		return false, 4, true
	case b == 0x6a, b == 0xa8, b >= 0xb0 && b < 0xb8, b == 0xcd, b >= 0xe4 && b <= 0xe7:
		return false, 1, true
	case b >= 0xa0 && b <= 0xa3:
		return false, 8, true
	case b >= 0xb8 && b <= 0xbf:
		if i.rex&8 != 0 {
			full = 8
		}
		return false, full, true
	case b == 0xc2, b == 0xca:
		return false, 2, true
	case b == 0xc8:
		return false, 3, true
	}
	return false, 0, false
}

// twoByte is oneByte for opcodes behind 0x0f.
func twoByte(b byte, i *instruction) (modrm bool, immediate int, ok bool) {
	switch {
	case b == 0x04, b == 0x0a, b == 0x0c, b == 0x0f, b >= 0x24 && b <= 0x27, b == 0x36, b >= 0x39 && b <= 0x3f, b == 0xa6, b == 0xa7:
		return false, 0, false
	case b >= 0x05 && b <= 0x09, b == 0x0b, b == 0x0e, b >= 0x30 && b <= 0x37, b == 0x77, b >= 0xa0 && b <= 0xa2, b >= 0xa8 && b <= 0xaa, b >= 0xc8 && b <= 0xcf:
		return false, 0, true
	case b >= 0x80 && b <= 0x8f:
		i.relative = 4
		return false, 4, true
	case b >= 0x70 && b <= 0x73, b == 0xa4, b == 0xac, b == 0xba, b == 0xc2, b >= 0xc4 && b <= 0xc6:
		return true, 1, true
	}
	return true, 0, true
}

// vectors returns the vector registers that an instruction without
// VEX names, as a set of bits.
func (i *instruction) vectors() uint32 {
	if i.opcode>>8 != 0x0f && i.opcode>>16 != 0x0f {
		return 0
	}
	op := i.opcode & 0xff
	if i.opcode>>16 == 0x0f {
		// SSSE3 to SSE4, AES, SHA: all of these but MOVBE, CRC32, ADCX, ADOX
		// and the invalidations have vector operands.
		if i.opcode>>8 == 0x0f38 && (op >= 0xf0 || op >= 0x80 && op < 0x90) {
			return 0
		}
		return i.operands()
	}
	switch {
	case op == 0x10, op == 0x11, op >= 0x12 && op <= 0x17, op == 0x28, op == 0x29, op == 0x2b, op >= 0x2e && op <= 0x2f,
		op >= 0x51 && op <= 0x6d, op == 0x6f, op == 0x70, op >= 0x74 && op <= 0x76, op >= 0x7c && op <= 0x7d, op == 0x7f,
		op == 0xc2, op == 0xc6, op >= 0xd0 && op <= 0xff:
		return i.operands()
	case op == 0x2a: // from an integer
		return 1 << i.reg()
	case op == 0x2c, op == 0x2d, op == 0x50: // to an integer
		if rm := i.rm(); rm >= 0 {
			return 1 << rm
		}
		return 0
	case op == 0x7e && i.repeat == 0xf3:
		return i.operands()
	case op == 0x6e, op == 0x7e, op == 0xc4, op == 0xc5: // with an integer
		return 1 << i.reg()
	case op >= 0x71 && op <= 0x73:
		return 1 << i.rm()
	}
	return 0
}

func (i *instruction) operands() uint32 {
	set := uint32(1) << i.reg()
	if rm := i.rm(); rm >= 0 {
		set |= 1 << rm
	}
	return set
}
