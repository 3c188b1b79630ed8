// Serve answers HTTP requests with a model, a token at a time.
//
//	serve MODEL [ADDRESS]
//	curl -d '{"prompt":"The capital of France is"}' localhost:8080/generate
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/leveret-os/leveret/pkg/llama"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: serve MODEL [ADDRESS]")
		os.Exit(2)
	}
	address := "localhost:8080"
	if len(os.Args) == 3 {
		address = os.Args[2]
	}
	if err := serve(os.Args[1], address); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func serve(path, address string) error {
	model, err := llama.Open(path, nil)
	if err != nil {
		return err
	}
	defer model.Close()

	mux := http.NewServeMux()
	mux.Handle("POST /generate", NewHandler(model, 4))
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	fmt.Println("listening on", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
