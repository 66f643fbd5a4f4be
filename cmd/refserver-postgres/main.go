// Refserver-postgres serves the petstore from a PostgreSQL database.
// "refserver-postgres -h" lists its flags and commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/postgres"
)

func main() { os.Exit(program().Main()) }

func program() *serve.Program {
	var url string
	var maxText int
	define := func(fs *flag.FlagSet) {
		fs.StringVar(&url, "postgres", "", "`URL` of the database, such as postgres://petstore@10.0.0.1,10.0.0.2,10.0.0.3/petstore;"+
			" what it leaves out, or all of it, comes from the PG* variables and the password file")
	}
	return &serve.Program{
		Name:       "refserver-postgres",
		About:      "the petstore, kept in PostgreSQL, served over HTTP",
		StoreFlags: define,
		Open: func(ctx context.Context, log *slog.Logger, _ bool) (*serve.Store, error) {
			s, err := open(ctx, url, log)
			if err != nil {
				return nil, err
			}
			ready := func(ctx context.Context) error {
				_, err := s.Stats(ctx)
				return err
			}
			return &serve.Store{Backend: s, Ready: ready}, nil
		},
		Commands: []flags.Command{{
			Name: "import",
			About: "read what refserver export wrote from standard input, and add the pets and messages to a database without any," +
				" with their IDs: all of them or, after an error, none",
			Flags: func(fs *flag.FlagSet) {
				define(fs)
				fs.IntVar(&maxText, "max-text", storage.DefaultMaxText, "largest `number` of bytes of a name or a message; the default is what the server accepts")
			},
			Run: func(c *flags.Call) error {
				s, err := open(c.Context, url, nil)
				if err != nil {
					return err
				}
				got, err := s.Import(c.Context, os.Stdin, maxText)
				if err = errors.Join(err, s.Close()); err == nil {
					_, err = fmt.Fprintf(c.Stdout, "imported; pets: %d; queued messages: %d\n", got.Pets, got.Messages)
				}
				return err
			},
		}},
	}
}

// open opens the store. Its errors name the flag.
func open(ctx context.Context, url string, log *slog.Logger) (*postgres.Store, error) {
	s, err := postgres.Open(ctx, url, &postgres.Options{Logger: log})
	switch {
	case err != nil && url == "":
		return nil, fmt.Errorf("-postgres is not set, so the PG* variables and their defaults say where the database is: %w", err)
	case err != nil:
		return nil, fmt.Errorf("-postgres: %w", err)
	}
	return s, nil
}
