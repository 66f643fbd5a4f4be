// Chi serves the petstore under /api/v1 of a chi router. The example nethttp
// shows how to stop such a server.
package main

import (
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	keys, err := apikey.Open("pets.keys", nil) // made with: go run example.com/animalstore/cmd/refserver keys create -keys pets.keys ACCOUNT
	if err != nil {
		log.Fatal(err)
	}

	// Mount does not change the request's URL. So strip the whole prefix, including
	// that of an outer Route.
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store})
	v1 := http.StripPrefix("/api/v1", handler)
	r := chi.NewRouter()
	r.Use(middleware.Logger)
	r.Route("/api", func(r chi.Router) { r.Mount("/v1", v1) })

	// Chi refuses the methods that it does not know, such as PROPFIND, before it
	// looks at the path, and without an Error body. So let v1 respond instead. It
	// then also responds to wrong methods of your own routes, with 404.
	r.MethodNotAllowed(v1.ServeHTTP)

	// CleanPath and StripSlashes change the path that chi routes on. The handler
	// still sees the path as it was sent: /api/v1//pets and /api/v1/pets/ are 404.

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/api/v1")
	server := &http.Server{Handler: r, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
