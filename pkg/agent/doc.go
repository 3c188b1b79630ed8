// Package agent runs a language model with tools: a task goes in, the model
// calls a tool, sees its result, calls the next, and ends with the tool done.
//
//	files := tools.Files(root, nil)
//	a, err := agent.New(model, files, nil)
//	…
//	defer a.Close()
//	for step, err := range a.Run(ctx, "read /notes.txt and report its size") {
//		…
//	}
//
// The model can make no malformed call (pkg/grammar), every argument is
// validated against the tool's schema before the tool runs, and every run ends
// with a typed Reason. Tools that panic, hang or return too much become results
// that the model can read. Nothing in a result can end the model's turn or
// speak as somebody else: the text of special tokens is plain text in it.
//
// The tools themselves are in pkg/agent/tools, those of MCP servers in
// pkg/agent/mcp, apart, so that importers of this package do not carry them. A
// tool of one's own is a Tool, or a function (NewTool).
package agent
