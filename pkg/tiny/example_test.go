package tiny_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/leveret-os/leveret/pkg/agent"
	"github.com/leveret-os/leveret/pkg/agent/tools"
	"github.com/leveret-os/leveret/pkg/tiny"
)

// An agent with the embedded model needs nothing but a folder.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "todo.txt"), []byte("buy milk and eggs\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()
	model, err := tiny.Open(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	writer, err := agent.NewLlama(model, nil)
	if err != nil {
		log.Fatal(err)
	}
	a, err := agent.New(writer, append(tools.Files(root, nil), tools.Compute()), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	for step, err := range a.Run(context.Background(), "read todo.txt and report its size") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(step.Call.Name, string(step.Call.Arguments))
	}
	// Output:
	// read_file {"path":"todo.txt"}
	// done {"answer":"18 bytes"}
}

// The model is a folder as any other.
func ExampleFS() {
	files, err := fs.ReadDir(tiny.FS(), ".")
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// config.json
	// generation_config.json
	// model.safetensors
	// tokenizer.json
	// tokenizer_config.json
}
