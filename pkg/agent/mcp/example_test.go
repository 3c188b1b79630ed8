package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leveret-os/leveret/pkg/agent/mcp"
)

// The tools of a server over HTTP are tools like any other.
func ExampleHTTP() {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{
		Name:        "greet",
		Description: "Greets somebody.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var args struct{ Name string }
		if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + args.Name}}}, nil
	})
	site := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer site.Close()

	ctx := context.Background()
	connection, err := mcp.HTTP(ctx, site.URL, nil, &mcp.Options{Prefix: "greeter."})
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	for _, tool := range connection.Tools() {
		fmt.Println(tool.Name(), "-", tool.Description())
		result, err := tool.Call(ctx, json.RawMessage(`{"name":"Ada"}`))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Text)
	}
	// Output:
	// greeter.greet - Greets somebody.
	// Hello, Ada
}

// A server that is a program is started, and ended by Close.
func ExampleCommand() {
	server, err := mcp.Command(context.Background(), exec.Command("no-such-server", "--stdio"), nil)
	if err != nil {
		fmt.Println("it cannot be started")
		return
	}
	defer server.Close()
	fmt.Println(len(server.Tools()), "tools")
	// Output:
	// it cannot be started
}
