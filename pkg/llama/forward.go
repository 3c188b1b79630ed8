package llama

import (
	"context"
	"math"

	"github.com/leveret-os/leveret/internal/blocks"
	"github.com/leveret-os/leveret/internal/parallel"
	"github.com/leveret-os/leveret/internal/simd"
)

// maxRows is the largest number of tokens in one forward pass: enough to make
// prefill compute-bound, few enough that their activations stay in the cache.
const maxRows = 128

// spanRows is the largest number of rows of a session that attend together.
const spanRows = 16

// Attention is at most maxRows·maxHeads pieces of work.
const _ uint = parallel.MaxPieces - maxRows*maxHeads

// A row is one token to compute: its place in a session, and where its logits
// go (nil where nobody asks for them). Rows of one pass may belong to several
// sessions; those of one session are in the order of their positions.
type row struct {
	token  int
	pos    int
	kv     *kvCache
	logits []float32 // vocab_size long, or nil
}

// An engine computes forward passes. It owns the buffers of one pass and the
// threads; passes run one at a time.
type engine struct {
	c       *Config
	w       *weights
	rope    *ropeTable
	kernels simd.Kernels
	pool    *parallel.Pool
	qScale  float32 // 1/√head_dim

	rows []row
	// Activations, a row of the pass each.
	x        []float32 // hidden: the residual stream
	h        []float32 // hidden: what was normalised, or is to be added
	q, att   []float32 // heads × head_dim
	k, v     []float32 // key/value heads × head_dim
	gate, up []float32 // intermediate
	cos, sin []float32 // head_dim/2
	acts     simd.Acts
	scores   []*simd.Memory // a worker each: rows of a span × heads of a group × context
	queries  [][]float32    // a worker each: the same rows and heads × head_dim
	logits   [][]float32    // a worker each: a piece of the head, of a pass that computes several rows of logits

	layer    int
	job      product
	spans    []span
	units    int // pieces of attention per span
	norm     []float32
	embedRow func(worker, i int)
	positRow func(worker, i int)
	attnUnit func(worker, i int)
	normRow  func(worker, i int)
	quantRow func(worker, i int)
	mulPiece func(worker, i int)
	headUnit func(worker, i int)
}

func newEngine(c *Config, w *weights, isa simd.ISA, threads int) (*engine, error) {
	rope, err := newRopeTable(c)
	if err != nil {
		return nil, err
	}
	e := &engine{
		c: c, w: w, rope: rope,
		kernels: simd.New(isa),
		pool:    parallel.NewPool(threads),
		qScale:  float32(1 / math.Sqrt(float64(c.HeadDim))),
	}
	e.scores = make([]*simd.Memory, e.pool.Size())
	e.queries = make([][]float32, e.pool.Size())
	for w := range e.queries {
		e.queries[w] = make([]float32, spanRows*c.NumAttentionHeads/c.NumKeyValueHeads*c.HeadDim)
	}
	e.spans = make([]span, 0, maxRows)
	e.embedRow, e.positRow, e.attnUnit = e.embed, e.position, e.attend
	e.logits = make([][]float32, e.pool.Size())
	e.headUnit = e.headPiece
	e.normRow, e.quantRow, e.mulPiece = e.addNorm, e.quantizeRow, e.multiplyPiece
	return e, nil
}

// reserve makes the buffers large enough for n rows.
func (e *engine) reserve(n int) {
	c := e.c
	if n*c.HiddenSize <= len(e.x) {
		return
	}
	qDim, kvDim := c.NumAttentionHeads*c.HeadDim, c.NumKeyValueHeads*c.HeadDim
	for _, b := range []struct {
		buf *[]float32
		dim int
	}{
		{&e.x, c.HiddenSize}, {&e.h, c.HiddenSize}, {&e.q, qDim}, {&e.att, qDim}, {&e.k, kvDim}, {&e.v, kvDim},
		{&e.gate, c.IntermediateSize}, {&e.up, c.IntermediateSize}, {&e.cos, c.HeadDim / 2}, {&e.sin, c.HeadDim / 2},
	} {
		*b.buf = make([]float32, n*b.dim)
	}
}

// reserveScores makes the workers' buffers large enough for a session of that
// many positions. Memory that no position has touched is only reserved.
func (e *engine) reserveScores(capacity int) error {
	group := e.c.NumAttentionHeads / e.c.NumKeyValueHeads
	for w, s := range e.scores {
		if s != nil && len(s.Floats())/(spanRows*group) >= capacity {
			continue
		}
		larger, err := reserve(spanRows*group, capacity, "scores")
		if err != nil {
			return err
		}
		if s != nil {
			s.Free()
		}
		e.scores[w] = larger
	}
	return nil
}

// close ends the threads and frees what lies outside Go's heap.
func (e *engine) close() {
	e.pool.Close()
	for _, s := range e.scores {
		if s != nil {
			s.Free()
		}
	}
}

// forward computes up to maxRows rows: it stores their keys and values, and
// their logits where they are asked for. A cancelled context ends it between
// layers; the caches then hold nothing that counts.
func (e *engine) forward(ctx context.Context, rows []row) error {
	n := len(rows)
	e.reserve(n)
	e.rows = rows
	defer func() { e.rows = nil }()

	// The residual stream begins with the tokens' embeddings.
	e.norm = e.w.layers[0].inputNorm
	e.eachRow(e.embedRow)
	for i := range e.w.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		y := &e.w.layers[i]
		e.layer = i

		// Attention: project, rotate, attend to all positions up to one's own.
		e.multiply(e.h, n, term{&y.q, y.qBias, e.q}, term{&y.k, y.kBias, e.k}, term{&y.v, y.vBias, e.v})
		e.eachRow(e.positRow)
		e.attention()
		e.multiply(e.att, n, term{&y.o, y.oBias, e.h})
		e.norm = y.postNorm
		e.eachRow(e.normRow)

		// MLP: down(silu(gate(h)) · up(h)).
		e.gated(e.h, n, term{&y.gate, y.gateBias, e.gate}, term{&y.up, y.upBias, e.up})
		e.multiply(e.gate, n, term{&y.down, y.downBias, e.h})
		e.norm = e.w.norm
		if i+1 < len(e.w.layers) {
			e.norm = e.w.layers[i+1].inputNorm
		}
		e.eachRow(e.normRow)
	}
	e.head()
	return nil
}

// eachRow runs f for every row of the pass.
func (e *engine) eachRow(f func(worker, i int)) { e.pool.Run(len(e.rows), f) }

// embed starts row i with its token's embedding, normalises it and computes
// the angles of its position.
func (e *engine) embed(_, i int) {
	d := e.c.HiddenSize
	x := e.x[i*d : (i+1)*d]
	e.w.embed.row(x, e.rows[i].token)
	e.kernels.RMSNorm(e.h[i*d:(i+1)*d], x, e.norm, e.c.RMSNormEps)
	half := e.c.HeadDim / 2
	e.rope.fill(e.rows[i].pos, e.cos[i*half:(i+1)*half], e.sin[i*half:(i+1)*half])
}

// addNorm adds h to the residual stream of row i and sets h to the norm of that.
func (e *engine) addNorm(_, i int) {
	d := e.c.HiddenSize
	x, h := e.x[i*d:(i+1)*d], e.h[i*d:(i+1)*d]
	e.kernels.Add(x, h)
	e.kernels.RMSNorm(h, x, e.norm, e.c.RMSNormEps)
}

// position normalises the heads of row i where the model does so, rotates
// queries and keys, scales queries, and stores keys and values.
func (e *engine) position(_, i int) {
	c, y, r := e.c, &e.w.layers[e.layer], &e.rows[i]
	hd, half, kvDim := c.HeadDim, c.HeadDim/2, r.kv.dim
	qDim := c.NumAttentionHeads * hd
	q, k := e.q[i*qDim:(i+1)*qDim], e.k[i*kvDim:(i+1)*kvDim]
	if c.QKNorm {
		for h := 0; h < qDim; h += hd {
			e.kernels.RMSNorm(q[h:h+hd], q[h:h+hd], y.qNorm, c.RMSNormEps)
		}
		for h := 0; h < kvDim; h += hd {
			e.kernels.RMSNorm(k[h:h+hd], k[h:h+hd], y.kNorm, c.RMSNormEps)
		}
	}
	cos, sin := e.cos[i*half:(i+1)*half], e.sin[i*half:(i+1)*half]
	e.kernels.Rope(q, cos, sin)
	e.kernels.Rope(k, cos, sin)
	e.kernels.Scale(q, e.qScale)
	copy(r.kv.k[e.layer][r.pos*kvDim:], k)
	copy(r.kv.v[e.layer][r.pos*kvDim:], e.v[i*kvDim:(i+1)*kvDim])
}

// A span is rows that follow one another in a session: they read the same keys.
type span struct{ first, count int }

// attention computes att from q and the caches. A unit of work is a span and the
// group of query heads that share a key/value head, or one query head where
// there are too few groups for the workers.
func (e *engine) attention() {
	e.spans = e.spans[:0]
	for i := 0; i < len(e.rows); {
		s := span{first: i}
		for ; i < len(e.rows) && s.count < spanRows && e.rows[i].kv == e.rows[s.first].kv; i++ {
			s.count++
		}
		e.spans = append(e.spans, s)
	}
	e.units = e.c.NumKeyValueHeads
	if w := e.pool.Size(); w > 1 && len(e.spans)*e.units < 4*w {
		e.units = e.c.NumAttentionHeads
	}
	e.pool.Run(len(e.spans)*e.units, e.attnUnit)
}

func (e *engine) attend(worker, i int) {
	c, span := e.c, e.spans[i/e.units]
	rows := e.rows[span.first : span.first+span.count]
	kv, hd, qDim := rows[0].kv, c.HeadDim, c.NumAttentionHeads*c.HeadDim
	heads := c.NumAttentionHeads / e.units // query heads of this unit
	head := i % e.units * heads
	kvHead := head / (c.NumAttentionHeads / c.NumKeyValueHeads)
	at := span.first*qDim + head*hd // of the first query in q, of its output in att

	q := e.q[at:]
	if len(rows) > 1 {
		q = e.queries[worker]
		for j := range rows {
			copy(q[j*heads*hd:(j+1)*heads*hd], e.q[at+j*qDim:])
		}
	}
	// Scores of all positions up to the last row's, though each row uses those
	// up to its own; in fours, which is what the kernel likes.
	n := min((rows[len(rows)-1].pos+4)&^3, kv.capacity)
	s := e.scores[worker].Floats()
	keys, values := kv.k[e.layer][kvHead*hd:], kv.v[e.layer][kvHead*hd:]
	e.kernels.Dots(s, n, keys, kv.dim, n, hd, q, hd, len(rows)*heads)
	for j := range rows {
		positions := rows[j].pos + 1
		for range heads {
			e.kernels.Softmax(s[:positions])
			s = s[n:]
		}
	}
	s = e.scores[worker].Floats()
	for j := range rows {
		e.kernels.WeightedSum(e.att[at+j*qDim:], hd, s[j*heads*n:], n, values, kv.dim, rows[j].pos+1, hd, heads)
	}
}

// head computes the logits of the rows that want them.
func (e *engine) head() {
	d, n := e.c.HiddenSize, 0
	var last []float32
	for i := range e.rows {
		if e.rows[i].logits == nil {
			continue
		}
		copy(e.h[n*d:(n+1)*d], e.h[i*d:(i+1)*d])
		last = e.rows[i].logits
		n++
	}
	switch n {
	case 0:
	case 1:
		e.multiply(e.h, 1, term{&e.w.head, nil, last})
	default:
		p := &e.job
		p.terms[0], p.x, p.n = term{w: &e.w.head}, e.h, n
		for w := range e.logits {
			if len(e.logits[w]) < n*headRows {
				e.logits[w] = make([]float32, n*headRows)
			}
		}
		if e.w.head.block != 0 {
			e.quantize()
		}
		e.pool.Run((e.w.head.rows+headRows-1)/headRows, e.headUnit)
	}
}

// headRows is how many logits of each row a worker computes before it hands
// them out: those of a few sessions stay in the cache until then.
const headRows = 64 * blocks.TileRows

// headPiece computes piece i of the logits of all rows that want them.
func (e *engine) headPiece(worker, i int) {
	p, y := &e.job, e.logits[worker]
	m, first := p.terms[0].w, i*headRows
	count := min(headRows, m.rows-first)
	m.multiplyTo(e.kernels, y, headRows, first/blocks.TileRows, (first+count+blocks.TileRows-1)/blocks.TileRows, p.x, p.n, &e.acts)
	for j := range e.rows {
		if l := e.rows[j].logits; l != nil {
			copy(l[first:first+count], y)
			y = y[headRows:]
		}
	}
}

// A term is one matrix of a product: dst = w·x + bias, row by row of x.
type term struct {
	w    *matrix
	bias []float32 // nil: none
	dst  []float32
}

// A product multiplies the same activations by several matrices.
type product struct {
	terms [3]term
	count int
	gated bool // the terms are gate and up, of one size; a piece has the same rows of both
	x     []float32
	n     int
	tiles int // of all terms, or of one if gated
	size  int // tiles a piece
}

// multiply computes every term for the n rows of x.
func (e *engine) multiply(x []float32, n int, terms ...term) { e.run(x, n, false, terms) }

// gated computes gate and up, and replaces gate by silu(gate)·up.
func (e *engine) gated(x []float32, n int, gate, up term) { e.run(x, n, true, []term{gate, up}) }

func (e *engine) run(x []float32, n int, gated bool, terms []term) {
	p := &e.job
	p.gated, p.x, p.n, p.tiles = gated, x, n, 0
	p.count = copy(p.terms[:], terms)
	bytes, blocked := 0, false
	for i := range terms {
		p.tiles += terms[i].w.tiles()
		bytes += len(terms[i].w.data)
		blocked = blocked || terms[i].w.block != 0
	}
	if gated {
		p.tiles = terms[0].w.tiles()
	}
	if blocked {
		e.quantize()
	}
	pieces := e.pieces(bytes, n)
	// The kernels take tiles in pairs.
	p.size = ((p.tiles+pieces-1)/pieces + 1) &^ 1
	e.pool.Run((p.tiles+p.size-1)/p.size, e.mulPiece)
}

// pieces says in how many pieces a product is split: several for each worker,
// so that a slow one does not hold the others up, but none of too little work.
func (e *engine) pieces(bytes, n int) int {
	const least = 64 << 10 // bytes of weights, some 2 µs of reading
	if e.pool.Size() == 1 {
		return 1
	}
	return min(4*e.pool.Size(), max(1, bytes/least*n))
}

// quantize quantises the product's activations.
func (e *engine) quantize() {
	e.kernels.Reserve(&e.acts, e.job.terms[0].w.cols, e.job.n)
	e.pool.Run(e.job.n, e.quantRow)
}

// quantizeRow quantises row i of the product's activations.
func (e *engine) quantizeRow(_, i int) {
	e.kernels.QuantizeRows(&e.acts, e.job.x, e.job.terms[0].w.cols, i, 1)
}

func (e *engine) multiplyPiece(_, i int) {
	p := &e.job
	first, end := i*p.size, min((i+1)*p.size, p.tiles)
	for t := range p.terms[:p.count] {
		y := &p.terms[t]
		tiles := y.w.tiles()
		if a, b := max(first, 0), min(end, tiles); a < b {
			y.w.multiply(e.kernels, y.dst, a, b, p.x, p.n, &e.acts)
			y.addBias(a, b, p.n)
		}
		if !p.gated {
			first, end = first-tiles, end-tiles
		}
	}
	if p.gated {
		rows := p.terms[0].w.rows
		r0, r1 := first*blocks.TileRows, min(end*blocks.TileRows, rows)
		for j := 0; j < p.n*rows; j += rows {
			e.kernels.SiLUMul(p.terms[0].dst[j+r0:j+r1], p.terms[1].dst[j+r0:j+r1])
		}
	}
}

// addBias adds the bias to the rows of tiles [first, end) of dst.
func (t *term) addBias(first, end, n int) {
	if t.bias == nil {
		return
	}
	rows := t.w.rows
	r0, r1 := first*blocks.TileRows, min(end*blocks.TileRows, rows)
	for j := range n {
		dst := t.dst[j*rows : (j+1)*rows]
		for r := r0; r < r1; r++ {
			dst[r] += t.bias[r]
		}
	}
}
