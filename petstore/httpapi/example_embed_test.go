package httpapi_test

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// The whole service under /v1 of a server that has other things to do too.
func Example_embed() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		return err
	}
	defer store.Close()
	keys, err := apikey.Open("pets.keys", nil) // made with: refserver keys create -keys pets.keys ACCOUNT
	if err != nil {
		return err
	}
	defer keys.Close()

	mux := http.NewServeMux()
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store, Encoded: store})
	mux.Handle("/v1/", http.StripPrefix("/v1", handler))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("my own server\n")) })

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended: // the port is taken, say
		return err
	case <-store.Failed(): // what is on disk is known once the file is opened again
		return errors.Join(store.Err(), server.Close())
	case <-ctx.Done():
	}
	stop() // so that a second signal ends the program at once
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx) // lets requests finish
}
