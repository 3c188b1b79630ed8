// Package jinja renders the chat templates of model folders: Jinja2 as Hugging
// Face's transformers sets it up (utils/chat_template_utils.py: the immutable
// sandbox, trim_blocks, lstrip_blocks, loop controls, tojson without HTML
// escapes, raise_exception, strftime_now).
//
// A template comes with a download, so it is somebody else's program. It can
// only compute text: there are no includes, no attributes but those listed in
// this package, nothing that changes its input. And it is bounded: each step
// and each byte of intermediate text is taken from one budget (Options.Fuel),
// before the memory is allocated, and the nesting of source, macros and values
// has limits, so that no template can use much time, memory or stack.
//
// Text remembers where it came from. Each string knows which of its bytes are
// data (messages, tools) and which were written by the template; slicing,
// joining, replacing, encoding as JSON keep this, and the rendered text comes
// with the spans that are data. So a caller can tell a special token that the
// template wrote from the same characters in a message.
//
// Outside the subset is what templates of language models do not use:
// inheritance, includes, imports, recursive loops, autoescaping, printf-style
// formatting. Each is an error that names it.
package jinja
