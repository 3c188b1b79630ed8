// Package safetensors reads and writes checkpoints in the safetensors format:
// one file, or several that model.safetensors.index.json lists.
//
// The format (https://github.com/huggingface/safetensors#format) is eight
// bytes N, little endian, then N bytes of JSON, then the tensors' data:
//
//	{"__metadata__": {"format": "pt"},
//	 "NAME": {"dtype": "BF16", "shape": [576, 1536], "data_offsets": [0, 1769472]}, …}
//
// Offsets count from the first byte after the JSON. The data may have no
// holes, no overlaps and nothing left over, and no key may stand twice; a file
// that breaks a rule is refused with an error that names the file, the tensor
// or the offset, what was expected and what was found. Every refusal wraps
// one of the Err values of this package.
//
// # Memory
//
// [Options.Memory] says where the data lies:
//
//   - [Mapped], the default: the file is mapped read-only and every
//     [Tensor.Data] points into the mapping. Opening costs no copy and no
//     anonymous memory; pages come from the page cache as they are touched.
//   - [Private]: the data is copied to anonymous memory of the process.
//   - [Huge]: the same, in pages of 2 MiB where the system gives them
//     ([File.Usage] tells how many it gave). Reading memory in 4 KiB pages is
//     slower.
//
// Data is read-only in every mode: writing to it is a fault that ends the
// program (except in what [Parse] and [NewReader] return, which is ordinary
// memory of the caller's).
//
// A mapping is a view of the file. If another program shortens the file while
// it is mapped, touching a page beyond its new end raises SIGBUS, which ends
// any program; if it is written to, the data changes. Programs that replace a
// checkpoint by renaming, as [Write] does, never cause this: the mapping keeps
// the old file. Where files may be cut short, open with [Private].
//
// After [File.Close] the memory is gone: reading a Tensor.Data that was taken
// before is a fault that ends the program. Whoever closes a File must know
// that nobody uses its tensors any more. A File that is never closed stays
// mapped until the program ends, which is harmless. [File] methods called
// after Close return [ErrClosed].
//
// Tensors may lie at any byte offset. Bytes are therefore never viewed as
// another type: [Tensor.Float32s] and the like read them one by one.
//
// Systems without mmap read the file instead, and so does a program built with
// the tag nommap; [File.Memory] tells.
package safetensors
