package serve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// Importer is a command that stores an export.
type Importer struct {
	// Store stores the export whole or not at all. into names where, for a message.
	Store func(c *flags.Call, r io.Reader) (got storage.Totals, into string, err error)

	keys string // the flag
}

// Flags defines the flags that every import has.
func (im *Importer) Flags(fs *flag.FlagSet) {
	fs.StringVar(&im.keys, "keys", "", "`file` to create with the API keys in a folder of backups, if there is none; empty: no keys are copied")
}

// ImportDetails is the end of the help of an import.
const ImportDetails = " FILE may be compressed. With - as FILE, it reads standard input. With the folder of -backup-dir, it takes the newest backup that is sound."

// Run imports what the argument names: a file, standard input, or the newest sound backup in
// a folder.
func (im *Importer) Run(c *flags.Call) error {
	info, err := os.Stat(c.Args[0])
	if err == nil && info.IsDir() {
		return im.newest(c, c.Args[0])
	}
	if im.keys != "" && (err == nil || c.Args[0] == "-") {
		return flags.Usagef("-keys: needs the folder of backups, not a file")
	}
	in, name, err := c.Input()
	if err != nil {
		return err
	}
	defer in.Close()
	return im.store(c, in, name)
}

// newest imports the newest sound backup in dir. It stops if a backup cannot be read, since
// that one may be sound.
func (im *Importer) newest(c *flags.Call, dir string) error {
	names, err := backups(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		path := filepath.Join(dir, name)
		in, err := os.Open(path)
		if err == nil {
			err = im.store(c, in, path)
			_ = in.Close()
		}
		if errors.Is(err, storage.ErrMalformed) {
			fmt.Fprintf(c.Stderr, "%v; skipped, so newer pets may be lost\n", err)
			continue
		}
		if err != nil {
			return err
		}
		return im.restoreKeys(c, filepath.Join(dir, backupKeys))
	}
	return fmt.Errorf("nothing was imported: %s has no sound backup petstore-*.jsonl.gz", dir)
}

func (im *Importer) store(c *flags.Call, r io.Reader, name string) error {
	got, into, err := im.Store(c, r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: imported into %s; pets: %d; messages: %d; outcomes of idempotency keys: %d\n",
		name, into, got.Pets, got.Messages, got.Outcomes)
	return err
}

// restoreKeys copies the key file at from, unless there is one: a revoked key must not come
// back.
func (im *Importer) restoreKeys(c *flags.Call, from string) error {
	if im.keys == "" {
		return nil
	}
	switch err := copyKeys(im.keys, from); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(c.Stdout, "%s: exists, so it was not changed\n", im.keys)
	case err != nil:
		return fmt.Errorf("the store was imported, but not the keys: %w", err)
	default:
		fmt.Fprintf(c.Stdout, "%s: copied from %s\n", im.keys, from)
	}
	return nil
}
