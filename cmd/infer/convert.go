package main

import (
	"context"

	"github.com/leveret-os/leveret/pkg/checkpoint"
)

func convertCommand() *command {
	return &command{
		name:  "convert",
		short: "write a model as a folder of safetensors and JSON",
		long: `
The model may be a GGUF file: its tokenizer, template and configuration become
files as Hugging Face has them, and its quantised weights either floats
(--dtype f32: without loss) or, with the default keep, block formats of the same
values. OUT must not exist or be empty, unless --force is given.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			v := &convertFlags{}
			f.string(&v.in, "m,model", modelArgument, "the model to convert")
			f.string(&v.out, "o,output", "DIR", "the folder to write")
			f.bool(&v.force, "force", "write into a folder that has files; a checkpoint's files in it are replaced")
			f.string(&v.dtype, "dtype", "TYPE", "f32, f16, bf16, or keep (default: as stored)")
			f.bool(&v.quiet, "q,quiet", "no report")
			return v.run
		},
	}
}

type convertFlags struct {
	in, out, dtype string
	force, quiet   bool
}

func (v *convertFlags) run(ctx context.Context, c *console, args []string) error {
	if err := checkInOut(v.in, v.out, args); err != nil {
		return err
	}
	dtype := checkpoint.Keep
	if v.dtype != "" {
		var err error
		if dtype, err = checkpoint.ParseType(v.dtype); err != nil {
			return usagef("--dtype %s: expected f32, f16, bf16 or keep", v.dtype)
		}
	}
	if dtype.Blocks() {
		return usagef("--dtype %s: that is a block format; `infer quantize` makes it", dtype)
	}
	return convertPath(ctx, c, v.in, v.out, checkpoint.ConvertOptions{Type: dtype, Force: v.force}, "converting", v.quiet)
}

func quantizeCommand() *command {
	return &command{
		name:  "quantize",
		short: "write a model with its matrices in a block format",
		long: `
Forms: q8b32 (8.5 bits a weight), q4b32 (4.5), q4b32m (5: 4 bits with a minimum
a block). Norms and biases stay as they are; so do matrices whose rows are no
multiple of 32, which are named. The embedding and the head are q8b32 in all
forms unless --head says otherwise. OUT must not exist or be empty, unless
--force is given.
`,
		declare: func(f *flags) func(context.Context, *console, []string) error {
			q := &quantizeFlags{}
			f.string(&q.in, "m,model", modelArgument, "the model to quantise")
			f.string(&q.out, "o,output", "DIR", "the folder to write")
			f.bool(&q.force, "force", "write into a folder that has files; a checkpoint's files in it are replaced")
			f.string(&q.form, "q,quantization", "FORM", "q8b32, q4b32 or q4b32m")
			f.string(&q.head, "head", "FORM", "the form of embedding and head (default q8b32)")
			f.bool(&q.quiet, "quiet", "no report")
			return q.run
		},
	}
}

type quantizeFlags struct {
	in, out, form, head string
	force, quiet        bool
}

func (q *quantizeFlags) run(ctx context.Context, c *console, args []string) error {
	if err := checkInOut(q.in, q.out, args); err != nil {
		return err
	}
	if q.form == "" {
		return usagef("no form given: -q q8b32, q4b32 or q4b32m")
	}
	opts := checkpoint.ConvertOptions{Force: q.force}
	for _, x := range []struct {
		flag, name string
		t          *checkpoint.Type
	}{{"-q", q.form, &opts.Type}, {"--head", q.head, &opts.Head}} {
		if x.name == "" {
			continue
		}
		t, err := checkpoint.ParseType(x.name)
		if err != nil || !t.Blocks() {
			return usagef("%s %s: expected a block format: q8b32, q4b32 or q4b32m", x.flag, x.name)
		}
		*x.t = t
	}
	return convertPath(ctx, c, q.in, q.out, opts, "quantising", q.quiet)
}

func checkInOut(in, out string, args []string) error {
	switch {
	case len(args) > 0:
		return usagef("unexpected argument %q", args[0])
	case in == "":
		return usagef("no model given: -m %s", modelArgument)
	case out == "":
		return usagef("no folder given: -o DIR")
	}
	return nil
}

// convertPath converts and reports.
func convertPath(ctx context.Context, c *console, in, out string, opts checkpoint.ConvertOptions, what string, quiet bool) error {
	from, err := checkpoint.Open(in, nil)
	if err != nil {
		return err
	}
	defer from.Close()
	report, err := convert(ctx, c, out, from, opts, what)
	if err != nil || quiet {
		return err
	}
	return writeConversion(c.stdout, out, report)
}

// convert converts with a progress bar.
func convert(ctx context.Context, c *console, out string, from *checkpoint.Checkpoint, opts checkpoint.ConvertOptions, what string) (*checkpoint.Report, error) {
	bar := c.progress(what)
	defer bar.clear()
	opts.Context = ctx
	opts.Progress = func(_ string, done, total int64) { bar.bytes("", done, total) }
	return checkpoint.Convert(out, from, &opts)
}
