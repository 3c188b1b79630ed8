// Package mcp gives an agent (pkg/agent) the tools of a server that speaks the
// Model Context Protocol, over standard input and output or over HTTP, by way
// of github.com/modelcontextprotocol/go-sdk. It is a package of its own so that
// only who imports it carries that.
//
//	server, err := mcp.Command(ctx, exec.Command("some-server"), nil)
//	…
//	defer server.Close()
//	a, err := agent.New(model, append(own, server.Tools()...), &agent.Options{SkipUnusable: true})
//
// A server is a stranger. What it sends is bounded in number and size, it is
// given nothing but the arguments of calls (no model, no folders, no questions
// to the user), and a tool of it whose schema or name cannot be used is left
// out by the agent (SkipUnusable), without harm to the others. What its
// descriptions and results say to the model is another matter: they are text of
// strangers, as a web page is.
package mcp
