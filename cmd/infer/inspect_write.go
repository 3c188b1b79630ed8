package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeInspection shows a checkpoint to a person.
func writeInspection(w io.Writer, x *inspection) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", label, oneLine(fmt.Sprintf(format, args...)))
	}
	line("path", "%s", x.Path)
	line("kind", "%s", x.Kind)
	if x.Format != "" {
		format := x.Format
		if x.Stored != "" && !strings.EqualFold(x.Stored, x.Format) {
			format += " (stored as " + x.Stored + ")"
		}
		line("format", "%s, %.2f bits a weight", format, x.Bits)
	}
	line("weights", "%d in %s", x.Weights, count(x.Count, "tensor"))
	line("size", "%s", size(x.Bytes))
	if m := x.Convert; m != nil && m.RepackedTensors > 0 {
		line("repacked", "%s, %s of memory when it runs", count(m.RepackedTensors, "tensor"), size(m.RepackedBytes))
	}
	if m := x.Convert; m != nil && m.ConvertedTensors > 0 {
		line("converted", "%s, %s of memory when it runs", count(m.ConvertedTensors, "tensor"), size(m.ConvertedBytes))
	}
	if c := x.Config; c != nil {
		line("model", "%s, %s", c.ModelType, count(c.NumHiddenLayers, "layer"))
		line("sizes", "hidden %d, MLP %d, vocabulary %d", c.HiddenSize, c.IntermediateSize, c.VocabSize)
		line("attention", "%s of %d, %s of keys and values", count(c.NumAttentionHeads, "head"), c.HeadDim, count(c.NumKeyValueHeads, "head"))
		scaling := ""
		if c.RopeScaling != "" {
			scaling = ", scaled: " + c.RopeScaling
		}
		line("RoPE", "theta %g%s", c.RopeTheta, scaling)
		line("context", "%d positions, %s of cache each, %s in all", c.ContextLength, size(x.Memory.BytesPerPosition), size(x.Memory.BytesOfContext))
		head := "a tensor of its own"
		if c.TiedEmbeddings {
			head = "the embedding"
		}
		line("head", "%s", head)
		line("ends at", "%s", strings.Trim(fmt.Sprint(c.EOSTokenIDs), "[]"))
		template := "no"
		if c.ChatTemplate {
			template = "yes"
		}
		line("chat template", "%s", template)
	}
	if x.Problem != "" {
		line("cannot run", "%s", x.Problem)
	}
	for _, k := range slices.Sorted(maps.Keys(x.Meta)) {
		line("metadata", "%s = %s", k, shorten(x.Meta[k], 100))
	}
	writeTensors(&b, x.Tensors)
	_, err := io.WriteString(w, b.String())
	return err
}

// shorten cuts a text at a character border and says how long it was.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// writeTensors adds the table.
func writeTensors(b *strings.Builder, tensors []inspectedTensor) {
	if len(tensors) == 0 {
		return
	}
	name, shape := len("tensor"), len("shape")
	for _, t := range tensors {
		name = max(name, len([]rune(oneLine(t.Name))))
		shape = max(shape, len(fmt.Sprint(t.Shape)))
	}
	name = min(name, 80)
	fmt.Fprintf(b, "\n%-*s  %-7s  %-*s  %12s\n", name, "tensor", "type", shape, "shape", "bytes")
	for _, t := range tensors {
		fmt.Fprintf(b, "%-*s  %-7s  %-*s  %12d\n", name, oneLine(t.Name), t.Type, shape, fmt.Sprint(t.Shape), t.Bytes)
	}
}
