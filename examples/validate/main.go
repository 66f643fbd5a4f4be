// Validate adds the rules of a shop to those of the contract: the shop sells only
// cats and dogs, and a name must not be blank.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

const (
	cats = 1
	dogs = 2
)

// validate is called for creations over HTTP. Code that creates pets in the store
// directly, such as an import, must call it too.
//
// Its result must depend only on the pet: it is called again when a client repeats
// a creation, which must not be refused because the pet already exists.
func validate(_ context.Context, p petstore.NewPet) error {
	switch {
	case strings.TrimSpace(p.Name) == "":
		return petstore.Errorf(petstore.CodeInvalid, "name: must not be blank")
	case p.CategoryID != cats && p.CategoryID != dogs:
		return petstore.Errorf(petstore.CodeInvalid, "categoryId: must be %d (cats) or %d (dogs), got %d", cats, dogs, p.CategoryID)
	}
	return nil // an error without a code would be a 500
}

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
	handler := httpapi.New(store, keys, &httpapi.Options{Messages: store, Validate: validate})
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	server := &http.Server{Handler: http.StripPrefix("/v1", handler), ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
