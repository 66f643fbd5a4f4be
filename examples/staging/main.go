// Staging serves production under /v1 and staging under /staging/v1, from one
// process. Each has pets, messages and keys of its own.
package main

import (
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// deployment returns a handler for pets and messages under /v1. Give each deployment
// its own two files: a staging key must not be valid in production. If staging fills
// the disk, production cannot create pets either, unless its file is on another disk.
func deployment(dbFile, keyFile string) http.Handler {
	store, err := storage.Open(dbFile, nil)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := apikey.Open(keyFile, nil) // made with: refserver keys create -keys FILE ACCOUNT
	if err != nil {
		log.Fatal(err)
	}
	return http.StripPrefix("/v1", httpapi.New(store, keys, &httpapi.Options{Messages: store}))
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	mux := http.NewServeMux()
	mux.Handle("/v1/", deployment("pets.db", "pets.keys"))
	mux.Handle("/staging/v1/", http.StripPrefix("/staging", deployment("staging.db", "staging.keys")))
	// To use a host name instead: mux.Handle("staging.example.org/v1/", …). The
	// pattern must not contain a port, and a proxy in front must pass on Host.

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	slog.Info("serving", "url", url+"/v1", "staging", url+"/staging/v1")
	server := &http.Server{Handler: mux, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
