// Echo serves the petstore under /api/v1 of an echo server. The example nethttp
// shows how to stop such a server.
package main

import (
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"

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

	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store})
	e := echo.New()
	// Groups do not change the request's URL. So strip the whole prefix, including
	// that of the group.
	api := e.Group("/api")
	api.Any("/v1/*", echo.WrapHandler(http.StripPrefix("/api/v1", handler)))

	// Middleware that is added with e.Pre can change the path that the handler sees:
	// with RemoveTrailingSlash, /pets/ returns a list instead of 404. The response
	// of BodyLimit lacks the code and status of an Error body, so use
	// Options.MaxBodyBytes instead.

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/api/v1")
	server := &http.Server{Handler: e, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
