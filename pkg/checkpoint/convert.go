package checkpoint

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/leveret-os/leveret/pkg/quant"
	"github.com/leveret-os/leveret/pkg/safetensors"
)

// ConvertOptions are the options of [Convert]. Nil means the zero value.
type ConvertOptions struct {
	// Type is the type that weights get. [Keep] leaves each tensor as it is,
	// which for GGUF's own types means the block format of the same numbers
	// where there is one, and otherwise float32. With a block format matrices
	// are quantised and everything else stays as it is.
	Type Type
	// Head is the type of the embedding and of the head where Type is a block
	// format; Keep means Q8B32, since 4 bits there cost the most quality.
	Head Type
	// Force writes into a folder that has files in it already. Those of the
	// same name are replaced, and so are other files of a Hugging Face
	// checkpoint (its index, tokenizer and configurations): they would
	// contradict the new ones. All else stays.
	Force bool
	// Progress is called before each tensor and at the end, with the bytes
	// written of the total of all tensors.
	Progress func(tensor string, done, total int64)
	// Context stops the conversion, between tensors, when it is done; nothing
	// is left then. Nil: it is never done.
	Context context.Context
}

// Report says what [Convert] wrote.
type Report struct {
	// Tensors are in the order of the source.
	Tensors []TensorReport
	// Left names the matrices that were not quantised because their rows are
	// not a multiple of quant.BlockSize.
	Left []string
	// Files are the names of the files in the folder.
	Files []string
	// Weights is the number of weights, Bytes what their data takes in the
	// file.
	Weights, Bytes int64
}

// TensorReport says what became of a tensor.
type TensorReport struct {
	Name     string
	Shape    []int
	From, To Type
	// Bytes is the size of its data in the file.
	Bytes int64
	// MaxError and MeanError are the largest and the mean absolute difference
	// between the weights before and after, Scale the root of the mean square
	// of the weights, to compare them with. They are zero where nothing was
	// rounded.
	MaxError, MeanError, Scale float64
}

// Convert writes a checkpoint as a folder in Hugging Face's form:
// model.safetensors, config.json and what the source has of
// generation_config.json, tokenizer.json, vocab.json, merges.txt,
// tokenizer_config.json, special_tokens_map.json, added_tokens.json and
// chat_template.jinja, all of which a GGUF source has but the last two.
//
// The files are written to a folder beside dst, which takes dst's place when
// it is complete. Where dst exists already they are written to a folder in it,
// and its files are replaced one by one, the weights last; dst may be the folder
// that the source is read from. One tensor is in memory at a time.
//
// Errors: [ErrExists], [ErrOverflow] and package quant's ErrNonFinite and
// ErrOverflow, with the tensor and the index; those of reading and writing.
// After an error dst is as before. opts may be nil.
func Convert(dst string, c *Checkpoint, opts *ConvertOptions) (*Report, error) {
	if opts == nil {
		opts = &ConvertOptions{}
	}
	if !c.use() {
		return nil, fmt.Errorf("checkpoint: convert: %w", ErrClosed)
	}
	defer c.life.RUnlock()
	for _, t := range []Type{opts.Type, opts.Head} {
		if int(t) >= len(typeNames) {
			return nil, fmt.Errorf("checkpoint: convert: %w: %v", ErrUnsupported, t)
		}
	}
	v := &conversion{c: c, opts: opts, ctx: opts.Context}
	if v.ctx == nil {
		v.ctx = context.Background()
	}
	if err := v.plan(); err != nil {
		return nil, err
	}
	out, err := newOutput(dst, opts.Force)
	if err != nil {
		return nil, err
	}
	defer out.discard()
	if err := v.write(out); err != nil {
		return nil, err
	}
	if v.report.Files, err = out.commit(); err != nil {
		return nil, err
	}
	return &v.report, nil
}

type conversion struct {
	c      *Checkpoint
	opts   *ConvertOptions
	ctx    context.Context
	report Report
	done   int64
}

// plan decides the type of every tensor.
func (v *conversion) plan() error {
	for _, name := range v.c.source.names() {
		t, err := v.c.source.stat(name)
		if err != nil {
			return err
		}
		to := v.target(&t)
		r := TensorReport{Name: name, Shape: t.Shape, From: t.Type, To: to, Bytes: tensorBytes(to, t.Shape)}
		v.report.Tensors = append(v.report.Tensors, r)
		v.report.Weights += int64(t.Elements())
		v.report.Bytes += r.Bytes
	}
	return nil
}

func (v *conversion) target(t *Tensor) Type {
	to := v.opts.Type
	if to == Keep {
		return t.Type
	}
	if !to.Blocks() {
		return to
	}
	if t.Name == embeddings || t.Name == head {
		if to = v.opts.Head; to == Keep {
			to = Q8B32
		}
		if !to.Blocks() {
			return to
		}
	}
	if len(t.Shape) != 2 || !strings.HasSuffix(t.Name, ".weight") {
		return t.Type
	}
	if t.Shape[1]%quant.BlockSize != 0 {
		v.report.Left = append(v.report.Left, t.Name)
		return t.Type
	}
	return to
}

// write writes all files.
func (v *conversion) write(out *output) error {
	sources := make([]safetensors.Source, len(v.report.Tensors))
	for i := range sources {
		sources[i] = v.sourceOf(&v.report.Tensors[i])
	}
	if err := v.writeFiles(out); err != nil {
		return err
	}
	if err := safetensors.Write(out.path(singleName), sources, v.metadata(), nil); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	v.progress("")
	return nil
}

func (v *conversion) progress(name string) {
	if v.opts.Progress != nil {
		v.opts.Progress(name, v.done, v.report.Bytes)
	}
}

// metadata is the safetensors file's.
func (v *conversion) metadata() map[string]string {
	m := map[string]string{"format": "pt"}
	q := quant.Metadata{}
	for _, t := range v.report.Tensors {
		if t.To.Blocks() {
			q[t.Name] = quant.Matrix{Format: t.To.format(), Rows: t.Shape[0], Cols: t.Shape[1]}
		}
	}
	if len(q) > 0 {
		m[quant.MetadataKey] = q.String()
	}
	return m
}

// sourceOf returns the tensor as package safetensors writes it.
func (v *conversion) sourceOf(r *TensorReport) safetensors.Source {
	s := safetensors.Source{Name: r.Name}
	rows, cols := rowsCols(r.Shape)
	switch r.To {
	case F32:
		s.DType = safetensors.F32
	case F16:
		s.DType = safetensors.F16
	case BF16:
		s.DType = safetensors.BF16
	default:
		s.DType = safetensors.U8
		shape := r.To.format().Shape(rows, cols)
		s.Shape = shape[:]
	}
	if s.Shape == nil {
		s.Shape = make([]uint64, len(r.Shape))
		for i, d := range r.Shape {
			s.Shape[i] = uint64(d)
		}
	}
	s.Write = func(w io.Writer) error {
		if err := v.ctx.Err(); err != nil {
			return context.Cause(v.ctx)
		}
		v.progress(r.Name)
		t, err := v.c.source.fresh(r.Name)
		if err != nil {
			return err
		}
		if r.From == r.To {
			_, err = w.Write(t.Data)
		} else if r.To.Blocks() {
			err = writeBlocks(w, &t, r)
		} else {
			err = writeRows(w, &t, r)
		}
		v.done += r.Bytes
		return err
	}
	return s
}

// writeRows writes a tensor in a type that is no block format.
func writeRows(w io.Writer, t *Tensor, r *TensorReport) error {
	rows, cols := rowsCols(t.Shape)
	size := cols * r.To.size()
	// As many rows at a time as pay for handing them out.
	step := max(1, min(rows, (4<<20)/max(size, 1)))
	buffer := make([]byte, step*size)
	read := rowReader(t)
	reread := rowReader(&Tensor{Type: r.To, Shape: []int{step, cols}, Data: buffer})
	moved := make(difference, rows)
	for at := 0; at < rows; at += step {
		n := min(step, rows-at)
		err := inParallel(n, size, func(lo, hi int) error {
			before, after := make([]float32, cols), make([]float32, cols)
			for i := lo; i < hi; i++ {
				read(at+i, before)
				if err := encodeRow(buffer[i*size:(i+1)*size], r.To, before); err != nil {
					return fmt.Errorf("row %d, %w", at+i, err)
				}
				reread(i, after)
				moved.compare(at+i, before, after)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if _, err := w.Write(buffer[:n*size]); err != nil {
			return err
		}
	}
	moved.report(r)
	return nil
}

// writeBlocks quantises a matrix.
func writeBlocks(w io.Writer, t *Tensor, r *TensorReport) error {
	rows, cols := rowsCols(t.Shape)
	f := r.To.format()
	data := make([]byte, f.Bytes(rows, cols))
	read := rowReader(t)
	err := quant.Encode(data, f, rows, cols, func(i int, dst []float32) error {
		read(i, dst)
		return nil
	})
	if err != nil {
		return err
	}
	reread := rowReader(&Tensor{Type: r.To, Shape: t.Shape, Data: data})
	moved := make(difference, rows)
	err = inParallel(rows, 4*cols, func(lo, hi int) error {
		before, after := make([]float32, cols), make([]float32, cols)
		for i := lo; i < hi; i++ {
			read(i, before)
			reread(i, after)
			moved.compare(i, before, after)
		}
		return nil
	})
	if err != nil {
		return err
	}
	moved.report(r)
	_, err = w.Write(data)
	return err
}
