// Refserver-postgres serves the petstore from a PostgreSQL database.
// "refserver-postgres -h" lists its flags and commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage/postgres"
)

func main() { os.Exit(program().Main()) }

func program() *serve.Program {
	var url string
	define := func(fs *flag.FlagSet) {
		fs.StringVar(&url, "postgres", "", "`URL` of the database, such as postgres://petstore@10.0.0.1,10.0.0.2,10.0.0.3/petstore;"+
			" what it leaves out, or all of it, comes from the PG* variables and the password file")
	}
	open := func(ctx context.Context, opts *postgres.Options) (*postgres.Store, error) {
		s, err := postgres.Open(ctx, url, opts)
		if err != nil {
			return nil, fmt.Errorf("-postgres: %w", err)
		}
		return s, nil
	}
	return &serve.Program{
		Name:       "refserver-postgres",
		About:      "the petstore, kept in PostgreSQL, served over HTTP",
		StoreFlags: define,
		Open: func(ctx context.Context, log *slog.Logger, _ bool, committed func(int, time.Duration)) (*serve.Store, error) {
			s, err := open(ctx, &postgres.Options{Logger: log, Committed: committed})
			if err != nil {
				return nil, err
			}
			ready := func(ctx context.Context) error {
				_, err := s.Stats(ctx)
				return err
			}
			return &serve.Store{Backend: s, Ready: ready}, nil
		},
		Commands: []flags.Command{importCommand(define, open)},
	}
}

type openFunc = func(context.Context, *postgres.Options) (*postgres.Store, error)

func importCommand(define func(*flag.FlagSet), open openFunc) flags.Command {
	return flags.Command{
		Name: "import",
		Args: "FILE",
		About: "add the pets and messages that refserver export wrote to a database without any, with their IDs: all of them or, after an error, none." +
			" With - as FILE, read standard input",
		Flags: define,
		Run: func(c *flags.Call) (err error) {
			in, name := io.Reader(os.Stdin), c.Args[0]
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			s, err := open(c.Context, nil)
			if err != nil {
				return err
			}
			pets, messages, err := s.Import(c.Context, in)
			if err = errors.Join(err, s.Close()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			_, err = fmt.Fprintf(c.Stdout, "%s: imported; pets: %d; queued messages: %d\n", name, pets, messages)
			return err
		},
	}
}
