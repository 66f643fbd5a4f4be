// Gin serves the petstore under /v1 of a gin engine. The example nethttp shows
// how to stop such a server.
package main

import (
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

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
	v1 := gin.WrapH(http.StripPrefix("/v1", handler))
	r := gin.Default()
	r.Any("/v1/*path", v1)

	// Any adds routes for nine methods. Gin would respond to the others with 404, not
	// 405, so pass them to the handler. StripPrefix responds to paths outside /v1 with
	// 404, as gin does.
	r.NoRoute(v1)

	r.RedirectTrailingSlash = false // do not redirect /v1 to /v1/

	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	server := &http.Server{Handler: r, ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
