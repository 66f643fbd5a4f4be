package httpapi_test

import (
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// The whole service under /v1 of a server that has other things to do too.
func Example_embed() {
	store, err := storage.Open("pets.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	keys, err := apikey.Open("pets.keys", nil) // made with: refserver keys create -keys pets.keys ACCOUNT
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()

	pets := httpapi.New(store, keys, &httpapi.Options{Encoded: store})
	messages := httpapi.NewMessages(store, keys, nil)

	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", pets))
	mux.Handle("/v1/messages", http.StripPrefix("/v1", messages))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("my own server\n")) })

	server := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Print(server.ListenAndServe()) // and not log.Fatal, which would leave the store open
}

// TestREADME makes sure that the README shows the example above as it is
// compiled.
func TestREADME(t *testing.T) {
	source, err := os.ReadFile("example_embed_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func Example_embed() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	body = strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:]
	if !strings.Contains(string(readme), "```go\n"+body+"\n```") {
		t.Errorf("README.md does not have the example:\n%s", body)
	}
}
