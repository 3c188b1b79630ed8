package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elements is one round of a loop over slices of float32: the elements of one
// register. In the last round, with AVX-512, some may lie past the end.
type elements struct {
	target
	k    reg.Register // bytes of the rounds of 16 elements before; nil: none
	part int          // which register of 16 elements
	mask reg.Register // the elements before the end; nil if all are
}

func (e elements) at(p reg.Register) Mem {
	m := Mem{Base: p, Disp: 4 * e.width() * e.part}
	if e.k != nil {
		m.Index, m.Scale = e.k, 1
	}
	return m
}

// load returns the elements of the slice at p, and 0 past the end.
func (e elements) load(p reg.Register) reg.VecVirtual {
	v := e.vector()
	if e.mask == nil {
		VMOVUPS(e.at(p), v)
	} else {
		loadMasked(f32, e.at(p), e.mask, v)
	}
	return v
}

// store sets the elements of the slice at p.
func (e elements) store(v reg.VecVirtual, p reg.Register) {
	if e.mask == nil {
		VMOVUPS(v, e.at(p))
	} else {
		VMOVUPS(v, e.mask, e.at(p))
	}
}

// keep returns v, and rest past the end.
func (e elements) keep(v, rest reg.VecVirtual) reg.VecVirtual {
	if e.mask == nil {
		return v
	}
	r := e.vector()
	VBLENDMPS(v, rest, e.mask, r)
	return r
}

// forElements writes a loop over n elements, which it consumes. With AVX2, n
// must be a multiple of 16.
func (t target) forElements(label string, n reg.Register, body func(e elements)) {
	k := GP64()
	XORQ(k, k)
	SUBQ(Imm(16), n)
	JL(LabelRef(label + "_tail"))
	Label(label)
	for h := range t.parts {
		body(elements{t, k, h, nil})
	}
	ADDQ(Imm(64), k)
	SUBQ(Imm(16), n)
	JGE(LabelRef(label))
	Label(label + "_tail")
	if t == avx2 {
		return
	}
	ADDQ(Imm(16), n)
	JZ(LabelRef(label + "_end"))
	body(elements{t, k, 0, tailMask(n)})
	Label(label + "_end")
}

// multiple is what a kernel's documentation says of its length n.
func (t target) multiple(n string) string {
	if t == avx2 {
		return " " + n + " must be a multiple of 16."
	}
	return ""
}

// scaleMul writes dst = (x·r)·w, the end of RMSNorm.
func scaleMul(t target) {
	TEXT("scaleMul"+t.suffix, NOSPLIT, "func(dst, x, w *float32, r float32, n int)")
	Doc("scaleMul" + t.suffix + " sets dst to (x·r)·w." + t.multiple("n"))
	Pragma("noescape")
	dst, x, w := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("w"), GP64())
	r := t.vector()
	VBROADCASTSS(NewParamAddr("r", 24), r)
	n := Load(Param("n"), GP64())
	t.forElements("loop", n, func(e elements) {
		v := e.load(x)
		VMULPS(r, v, v)
		VMULPS(e.load(w), v, v)
		e.store(v, dst)
	})
	VZEROUPPER()
	RET()
}

// add writes x += y.
func add(t target) {
	TEXT("add"+t.suffix, NOSPLIT, "func(x, y *float32, n int)")
	Doc("add" + t.suffix + " adds y to x." + t.multiple("n"))
	Pragma("noescape")
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	n := Load(Param("n"), GP64())
	t.forElements("loop", n, func(e elements) {
		v := e.load(x)
		VADDPS(e.load(y), v, v)
		e.store(v, x)
	})
	VZEROUPPER()
	RET()
}

// siluMul writes gate = gate/(1+e^−gate)·up.
func siluMul(t target) {
	TEXT("siluMul"+t.suffix, NOSPLIT, "func(gate, up *float32, n int)")
	Doc("siluMul" + t.suffix + " sets gate to gate/(1+e^−gate)·up." + t.multiple("n"))
	Pragma("noescape")
	gate, up := Load(Param("gate"), GP64()), Load(Param("up"), GP64())
	n := Load(Param("n"), GP64())
	ex := newExponential(t)
	sign := t.vector()
	VBROADCASTSS(expConst(expSign), sign)
	t.forElements("loop", n, func(e elements) {
		g := e.load(gate)
		neg := t.vector()
		VXORPS(sign, g, neg)
		d := ex.of(neg)
		VADDPS(ex.constant(expOne), d, d)
		VDIVPS(d, g, g)
		VMULPS(e.load(up), g, g)
		e.store(g, gate)
	})
	VZEROUPPER()
	RET()
}

// rope writes the rotation of heads of 2·half elements.
func rope(t target) {
	TEXT("rope"+t.suffix, NOSPLIT, "func(x, cos, sin *float32, half, heads int)")
	Doc("rope" + t.suffix + " rotates heads of 2·half elements." + t.multiple("half"))
	Pragma("noescape")
	x, cos, sin := Load(Param("x"), GP64()), Load(Param("cos"), GP64()), Load(Param("sin"), GP64())
	half, heads := Load(Param("half"), GP64()), Load(Param("heads"), GP64())
	Label("head")
	y, n := GP64(), GP64()
	LEAQ(Mem{Base: x, Index: half, Scale: 4}, y)
	MOVQ(half, n)
	t.forElements("loop", n, func(e elements) {
		a, b, c, s := e.load(x), e.load(y), e.load(cos), e.load(sin)
		ac, bs := t.vector(), t.vector()
		VMULPS(c, a, ac)
		VMULPS(s, b, bs)
		VSUBPS(bs, ac, ac)
		e.store(ac, x)
		VMULPS(c, b, b)
		VMULPS(s, a, a)
		VADDPS(a, b, b)
		e.store(b, y)
	})
	LEAQ(Mem{Base: x, Index: half, Scale: 8}, x)
	DECQ(heads)
	JNZ(LabelRef("head"))
	VZEROUPPER()
	RET()
}

// scale writes x *= r.
func scale(t target) {
	TEXT("scale"+t.suffix, NOSPLIT, "func(x *float32, r float32, n int)")
	Doc("scale" + t.suffix + " multiplies x by r." + t.multiple("n"))
	Pragma("noescape")
	x := Load(Param("x"), GP64())
	r := t.vector()
	VBROADCASTSS(NewParamAddr("r", 8), r)
	n := Load(Param("n"), GP64())
	t.forElements("loop", n, func(e elements) {
		v := e.load(x)
		VMULPS(r, v, v)
		e.store(v, x)
	})
	VZEROUPPER()
	RET()
}

// largest writes the largest of each lane's elements and of what the lane held
// before; of two operands of VMAXPS, one of them NaN, the second is taken.
func largest(t target) {
	TEXT("largest"+t.suffix, NOSPLIT, "func(lanes, x *float32, n int)")
	Doc("largest" + t.suffix + " raises 16 lanes to the largest of their elements of x, without NaN." + t.multiple("n"))
	Pragma("noescape")
	lanes, x := Load(Param("lanes"), GP64()), Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	most := t.vectors(t.parts)
	at := func(h int) Mem { return Mem{Base: lanes, Disp: 4 * t.width() * h} }
	for h := range most {
		VMOVUPS(at(h), most[h])
	}
	t.forElements("loop", n, func(e elements) {
		VMAXPS(most[e.part], e.keep(e.load(x), most[e.part]), most[e.part])
	})
	for h := range most {
		VMOVUPS(most[h], at(h))
	}
	VZEROUPPER()
	RET()
}
