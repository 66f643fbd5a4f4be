// Auth accepts the API keys in its environment variable API_KEYS. Many platforms
// pass secrets that way:
//
//	API_KEYS="alice=$KEY1 alice=$KEY2 bert=$KEY3" go run .
//
// Make a key with: openssl rand -hex 32
package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"flag"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// accounts is a list of pairs: an account and one of its keys.
type accounts [][2]string

func parse(s string) (accounts, error) {
	var a accounts
	for field := range strings.FieldsSeq(s) {
		name, key, _ := strings.Cut(field, "=")
		if name == "" || len(key) < 32 { // the error must not repeat the key
			return nil, errors.New("API_KEYS: must be ACCOUNT=KEY, separated by spaces, with keys of at least 32 characters")
		}
		a = append(a, [2]string{name, key})
	}
	return a, nil
}

// Authenticate implements httpapi.Authenticator. All keys of an account lead to the
// same account, so a client with a new key can still repeat an earlier creation.
func (a accounts) Authenticate(_ context.Context, key string) (string, error) {
	hash := sha256.Sum256([]byte(key)) // ConstantTimeCompare needs equal lengths
	for _, account := range a {
		known := sha256.Sum256([]byte(account[1]))
		if subtle.ConstantTimeCompare(hash[:], known[:]) == 1 {
			return account[0], nil
		}
	}
	// This code leads to a 401. Any other error leads to a 503: the key could not be
	// checked.
	return "", petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flag.Parse()
	accounts, err := parse(os.Getenv("API_KEYS"))
	if err != nil {
		log.Fatal(err)
	}
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := httpapi.New(store, accounts, &httpapi.Options{Messages: store})
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	slog.Info("serving", "url", "http://"+listener.Addr().String()+"/v1")
	server := &http.Server{Handler: http.StripPrefix("/v1", handler), ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
