package serve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
)

// firstAccount is the account of the key that a first start creates.
const firstAccount = "default"

// openKeys opens the key file of s. If there is none it creates one with a single key,
// which it prints, unless -must-exist is set.
func (p *Program) openKeys(stdout io.Writer, s *server) error {
	path, err := filepath.Abs(s.keyFile)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if s.mustExist {
			return fmt.Errorf("-keys: %w. If the keys are lost, copy %s there from the folder of backups, or make a new one with keys create: no earlier key is valid then",
				err, backupKeys)
		}
		if err := p.firstKey(stdout, s, path); err != nil {
			return err
		}
	}
	s.keys, err = apikey.Open(path, s.log)
	if err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	return nil
}

// firstKey creates the key file and prints the key in it.
func (p *Program) firstKey(stdout io.Writer, s *server, path string) error {
	secret, _, err := apikey.Create(path, firstAccount)
	if err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, firstKeyText, path, p.Name, secret, s.pets.url()); err != nil {
		return fmt.Errorf("the first key could not be printed: %w; make another with keys create", err)
	}
	s.newKey = true
	return nil
}

const firstKeyText = `There was no key file. %[1]s is new. It holds the hash of this API key,
the only valid one, which is not shown again ("%[2]s keys create" makes others):

    %[3]s

Try it:

    curl -H 'Authorization: Bearer %[3]s' %[4]s` + basePath + `/pets

Or enter the key in a browser, at %[4]s

`

// keysFlag defines the flag that names the key file.
func keysFlag(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "keys", "petstore.keys", "`file` with the API keys")
}

// keysCommands are the commands that change or list API keys. A running server
// accepts a new key at once, and refuses a revoked one after a second at most.
func keysCommands() []flags.Command {
	var path string
	define := func(fs *flag.FlagSet) { keysFlag(fs, &path) }
	return []flags.Command{{
		Name:  "keys create",
		Args:  "ACCOUNT",
		About: "create an API key for an account and print it; only its hash is kept",
		Flags: define,
		Run:   func(c *flags.Call) error { return createKey(c, path) },
	}, {
		Name:  "keys list",
		About: "list the API keys: id, account, created",
		Flags: define,
		Run:   func(c *flags.Call) error { return listKeys(c, path) },
	}, {
		Name:  "keys revoke",
		Args:  "ID",
		About: "revoke an API key",
		Flags: define,
		Run: func(c *flags.Call) error {
			k, err := apikey.Revoke(path, c.Args[0])
			if err != nil {
				return fmt.Errorf("-keys: %w", err)
			}
			_, err = fmt.Fprintf(c.Stdout, "revoked %s of %s\n", k.ID, k.Account)
			return err
		},
	}}
}

func createKey(c *flags.Call, path string) error {
	secret, key, err := apikey.Create(path, c.Args[0])
	switch {
	case petstore.CodeOf(err) == petstore.CodeInvalid:
		return flags.Usagef("%v", err)
	case err != nil:
		return fmt.Errorf("-keys: %w", err)
	}
	if _, err := fmt.Fprintln(c.Stdout, secret); err != nil {
		return fmt.Errorf("key %s was created but could not be printed: %w; revoke it and create another", key.ID, err)
	}
	fmt.Fprintf(c.Stderr, "key %s of account %s in %s\n", key.ID, key.Account, path)
	return nil
}

func listKeys(c *flags.Call, path string) error {
	keys, err := apikey.List(path)
	if err != nil {
		return fmt.Errorf("-keys: %w", err)
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tACCOUNT\tCREATED")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.ID, k.Account, k.Created.Format(time.RFC3339))
	}
	return w.Flush()
}
