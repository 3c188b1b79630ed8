package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/agent/tools"
)

// show calls a tool as an agent would, and prints what a model would see.
func show(tool agent.Tool, args string) {
	result, err := tool.Call(context.Background(), json.RawMessage(args))
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	if result.Head != nil {
		fmt.Println(result.Head(len(result.Text)))
	}
	fmt.Println(result.Text)
}

// The file tools reach what is in a folder, and nothing else.
func ExampleFiles() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("first line\nsecond line\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	for _, tool := range tools.Files(root, nil) {
		switch tool.Name() {
		case "list_dir":
			show(tool, `{"path":"/"}`)
		case "read_file":
			show(tool, `{"path":"/notes.txt","limit":10}`)
			show(tool, `{"path":"../../etc/passwd"}`)
		case "write_file":
			show(tool, `{"path":"out/copy.txt","content":"first line"}`)
		}
	}
	// Output:
	// 23 bytes, truncated, next offset 10
	// first line
	// error: path has a ".." in it; paths begin at the root folder, /
	// 1 entry
	// notes.txt
	// wrote 10 bytes
}

// Arithmetic is exact, and bounded.
func ExampleCompute() {
	show(tools.Compute(), `{"expression":"0.1 + 0.2"}`)
	show(tools.Compute(), `{"expression":"2 ** 100 % 97"}`)
	show(tools.Compute(), `{"expression":"10 / 3"}`)
	show(tools.Compute(), `{"expression":"9**9**9"}`)
	// Output:
	// 0.3
	// 16
	// 3.3333333333333333333 (rounded; exactly 10/3)
	// error: too large: a power of more than 9830 digits
}

// Only what is on the list is reached. An address that is not public, like that
// of this server, is on it by itself.
func ExampleHTTPGet() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
			return
		}
		io.WriteString(w, "hello")
	}))
	defer server.Close()

	get, err := tools.HTTPGet(tools.HTTPOptions{Allow: []string{strings.TrimPrefix(server.URL, "http://")}})
	if err != nil {
		log.Fatal(err)
	}
	show(get, `{"url":"`+server.URL+`"}`)
	show(get, `{"url":"`+server.URL+`/elsewhere"}`)
	show(get, `{"url":"http://example.com/"}`)
	// Output:
	// 5 bytes
	// hello
	// error: a redirect: host 169.254.169.254 is not allowed with port 80
	// error: host example.com is not allowed with port 80
}
