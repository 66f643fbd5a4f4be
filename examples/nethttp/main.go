// Nethttp serves the petstore under /v1 of a server that also has other handlers.
// It stops at SIGINT or SIGTERM, and when the store fails. This makes its keys:
//
//	go run example.com/animalstore/cmd/refserver keys create -keys pets.keys alice
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	if err := run(*addr); err != nil {
		log.Fatal(err)
	}
}

func run(addr string) error {
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		return err
	}
	defer store.Close()
	keys, err := apikey.Open("pets.keys", nil)
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store})
	mux.Handle("/v1/", http.StripPrefix("/v1", handler))
	// The pattern ends in a slash and has no method. With "GET /v1/" the mux itself
	// would refuse other methods, in plain text.
	//
	// Before the handler sees a request, the mux redirects /v1 to /v1/ and
	// /v1//pets to /v1/pets. A second mux inside StripPrefix would redirect to a
	// path without the prefix, so use only one mux.
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("my own server\n")) })

	listener, err := net.Listen("tcp", addr)
	if err != nil { // for example, the port is in use
		return err
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Handler: mux, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-store.Failed(): // the state on disk is unknown until the file is opened again
		return errors.Join(store.Err(), server.Close())
	case <-ctx.Done():
	}
	stop() // so that a second signal ends the program at once
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx) // lets requests finish
}
