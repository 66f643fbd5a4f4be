// Refserver serves the petstore from one file. "refserver -h" lists its flags
// and commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/storage"
)

func main() { os.Exit(program().Main()) }

func program() *serve.Program {
	var db string
	return &serve.Program{
		Name:     "refserver",
		About:    "the petstore, kept in one file, served over HTTP",
		Commands: append([]flags.Command{importCommand(&db)}, fileCommands()...),
		StoreFlags: func(fs *flag.FlagSet) {
			dbFlag(fs, &db, "`file` with the pets and messages; the first start creates it")
		},
		Open: func(_ context.Context, log *slog.Logger, mustExist bool) (*serve.Opened, error) {
			s, err := storage.Open(db, &storage.Options{Logger: log, MustExist: mustExist})
			if err != nil {
				return nil, advise(err, db)
			}
			path, _ := filepath.Abs(db) // the store could be opened
			return &serve.Opened{Store: s, Name: path, Failed: s.Failed(), Metrics: func(gauge func(name, help string, value float64)) {
				damage := 0.0
				if s.Damage() != nil {
					damage = 1
				}
				gauge("petstore_damage_found", "1 if damage was found, so that changes are refused.", damage)
			}}, nil
		},
	}
}

// dbFlag defines the flag that names the store, with the same default for each
// command.
func dbFlag(fs *flag.FlagSet, db *string, usage string) {
	fs.StringVar(db, "db", "petstore.db", usage)
}

// advise adds what can be done to an error of opening the store at path.
func advise(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("-db: %w; check that its volume is mounted. If the store is lost, import the newest backup: refserver import -db %s FILE", err, path)
	case errors.Is(err, storage.ErrLocked):
		return fmt.Errorf("%w; stop that one first, or choose another file with -db", err)
	case errors.Is(err, storage.ErrDamaged):
		return fmt.Errorf("%w, or save what is left: refserver export -skip-damaged -o saved.jsonl %s", err, path)
	case errors.Is(err, storage.ErrNewer):
		return fmt.Errorf("%w; use that one or a later one", err)
	}
	return fmt.Errorf("-db: %w", err)
}
