package apikey_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/animalstore/petstore/apikey"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "petstore.keys")

	// The owner of an account gets a key, which is shown once.
	now := time.Now()
	key, kept, err := apikey.New("alice", now, now.Add(90*24*time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	if err := apikey.Add(path, kept); err != nil {
		log.Fatal(err)
	}

	// The server has the file open, and learns of every change to it.
	keys, err := apikey.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()

	fmt.Println(keys.Authenticate(context.Background(), key))
	_, err = keys.Authenticate(context.Background(), "guessed")
	fmt.Println(err)
	// Output:
	// alice <nil>
	// unknown API key
}
