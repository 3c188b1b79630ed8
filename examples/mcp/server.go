package main

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve is an MCP server with two tools, written with the protocol's own SDK.
func serve(ctx context.Context) error {
	server := sdk.NewServer(&sdk.Implementation{Name: "harbour", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{
		Name:        "read_file",
		Description: "Reads one of the harbour's files, such as tides.txt.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
	}, readFile)
	// This one's schema has a keyword that no grammar can follow, so the agent
	// leaves the tool out.
	server.AddTool(&sdk.Tool{
		Name:        "book_berth",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"not":{"const":""}}}}`),
	}, readFile)
	return server.Run(ctx, &sdk.StdioTransport{})
}

func readFile(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct{ Path string }
	if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
		return nil, err
	}
	if args.Path != "tides.txt" {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no such file"}}}, nil
	}
	const tides = "high 06:10 and 18:35\n"
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%d bytes\n%s", len(tides), tides)}}}, nil
}
