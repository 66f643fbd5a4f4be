package apikey_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"example.com/animalstore/petstore/apikey"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "petstore.keys")

	// The secret is shown once, to the owner of the account.
	secret, key, err := apikey.Create(path, "alice")
	if err != nil {
		log.Fatal(err)
	}
	// A running server notices when the file changes.
	keys, err := apikey.Open(path, slog.Default())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keys.Authenticate(context.Background(), secret))
	_, err = keys.Authenticate(context.Background(), "guessed")
	fmt.Println(err)
	if _, err := apikey.Revoke(path, key.ID); err != nil {
		log.Fatal(err)
	}
	// Output:
	// alice <nil>
	// unknown API key
}
