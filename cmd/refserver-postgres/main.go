// Refserver-postgres serves the petstore from a PostgreSQL database.
// "refserver-postgres -h" lists its flags and commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
	"example.com/animalstore/petstore/storage/postgres"
)

func main() { os.Exit(program().Main()) }

func program() *serve.Program {
	var url, out string
	define := func(fs *flag.FlagSet) {
		fs.StringVar(&url, "postgres", "", "`URL` of the database, such as postgres://petstore@10.0.0.1,10.0.0.2,10.0.0.3/petstore;"+
			" what it leaves out, or all of it, comes from the PG* variables and the password file")
	}
	open := func(ctx context.Context, opts *postgres.Options) (*postgres.Store, error) {
		s, err := postgres.Open(ctx, url, opts)
		switch {
		case err != nil && url == "":
			err = fmt.Errorf("-postgres is not set, so the PG* variables and their defaults say where the database is: %w", err)
		case err != nil:
			err = fmt.Errorf("-postgres: %w", err)
		}
		return s, err
	}
	return &serve.Program{
		Name:       "refserver-postgres",
		About:      "the petstore, kept in PostgreSQL, served over HTTP",
		StoreFlags: define,
		Open: func(ctx context.Context, log *slog.Logger, mustExist bool) (*serve.Opened, error) {
			s, err := open(ctx, &postgres.Options{Logger: log, MustExist: mustExist})
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, fmt.Errorf("%w; check that it is the right one. If the store is lost, import the newest backup: refserver-postgres import -postgres URL FILE", err)
			case err != nil:
				return nil, err
			}
			return &serve.Opened{Store: s, Name: s.String()}, nil
		},
		Commands: []flags.Command{{
			Name:  "import",
			Args:  "FILE",
			About: "add an export or a backup to a database that has never held a pet or a message. It adds all of it, with all IDs, or, after an error, nothing." + serve.ImportDetails,
			Flags: define,
			Run: serve.Import(func(c *flags.Call, r io.Reader) (got storage.Totals, into string, err error) {
				s, err := open(c.Context, nil)
				if err != nil {
					return got, "", err
				}
				defer s.Close()
				if got, err = s.Import(c.Context, r); err != nil {
					err = fmt.Errorf("into %s (-postgres): %w", s, err)
				}
				return got, s.String(), err
			}),
		}, {
			Name:  "export",
			About: "write the pets, the queued messages and the outcomes of idempotency keys, for import. It writes one JSON object on each line, of one moment. Servers may use the database meanwhile",
			Flags: func(fs *flag.FlagSet) {
				define(fs)
				serve.OutFlag(fs, &out)
			},
			Run: func(c *flags.Call) error {
				s, err := open(c.Context, &postgres.Options{MustExist: true})
				if err != nil {
					return err
				}
				defer s.Close()
				if err = serve.WriteExport(c, out, func(w io.Writer) error { return s.Export(c.Context, w) }); err != nil {
					err = fmt.Errorf("from %s (-postgres): %w", s, err)
				}
				return err
			},
		}},
	}
}
