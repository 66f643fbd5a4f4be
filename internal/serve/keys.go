package serve

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
)

// firstAccount is the account of the key that a first start makes.
const firstAccount = "default"

func keysFlag(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "keys", "petstore.keys", "`file` with the API keys")
}

// keysCommands are the commands that work on a key file. A server that has it
// open takes their changes within two seconds.
func keysCommands() []Command {
	var path string
	var expires time.Duration
	flags := func(fs *flag.FlagSet) { keysFlag(fs, &path) }
	return []Command{{
		Name:  "keys create",
		Args:  "ACCOUNT",
		About: "make an API key for an account and print it; only its hash is kept",
		Flags: func(fs *flag.FlagSet) {
			flags(fs)
			fs.DurationVar(&expires, "expires", 0, "`duration` that the key is valid for, such as 720h; 0: for ever")
		},
		Run: func(c *Call) error { return createKey(c, path, expires) },
	}, {
		Name:  "keys list",
		About: "list the API keys: id, account, created, expires",
		Flags: flags,
		Run:   func(c *Call) error { return listKeys(c, path) },
	}, {
		Name:  "keys revoke",
		Args:  "ID",
		About: "take an API key away",
		Flags: flags,
		Run:   func(c *Call) error { return revokeKey(c, path) },
	}}
}

func createKey(c *Call, path string, expires time.Duration) error {
	if len(c.Args) != 1 {
		return usagef("keys create needs one ACCOUNT")
	}
	if expires != 0 && expires < time.Second {
		return usagef("-expires: must be 0 or at least 1s, got %v", expires)
	}
	key, id, err := apikey.Create(path, c.Args[0], expires)
	if petstore.CodeOf(err) == petstore.CodeInvalid {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.Stdout, key); err != nil {
		return fmt.Errorf("key %s was made but could not be printed: %w; revoke it and make another", id, err)
	}
	fmt.Fprintf(c.Stderr, "key %s of account %s; keys revoke %s takes it away\n", id, c.Args[0], id)
	return nil
}

// noFile adds to the error that there is no key file what can be done.
func noFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; put it back from a copy, or name another with -keys; keys create makes a file in which no earlier key is", err)
	}
	return err
}

func listKeys(c *Call, path string) error {
	if len(c.Args) != 0 {
		return usagef("unexpected argument %q", c.Args[0])
	}
	keys, err := apikey.List(path)
	if err != nil {
		return noFile(err)
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tACCOUNT\tCREATED\tEXPIRES")
	for _, k := range keys {
		end := "never"
		if !k.Expires.IsZero() {
			end = k.Expires.Format(time.RFC3339)
		}
		if k.Expired(time.Now()) {
			end += " (expired)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.ID, k.Account, k.Created.Format(time.RFC3339), end)
	}
	return w.Flush()
}

func revokeKey(c *Call, path string) error {
	if len(c.Args) != 1 {
		return usagef("keys revoke needs one ID, as keys list shows them")
	}
	k, err := apikey.Revoke(path, c.Args[0])
	if errors.Is(err, apikey.ErrNoKey) {
		return fmt.Errorf("%w; keys list shows them", err)
	}
	if err != nil {
		return noFile(err)
	}
	_, err = fmt.Fprintf(c.Stdout, "revoked %s of %s\n", k.ID, k.Account)
	return err
}

// openKeys opens the key file. If there is none and mayMake is true, it makes
// one with a single key, and prints the key and a command to try it.
func (p *Program) openKeys(stdout io.Writer, path, url string, mayMake bool, log *slog.Logger) (*apikey.File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if none, err := missing(path); err != nil {
		return nil, err
	} else if none && !mayMake {
		quoted := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" // for a shell
		return nil, fmt.Errorf("there is a store %s, but there is no key file %s; check the flag, or make a key: %s keys create -keys %s %s", p.StoreFile(), path, p.Name, quoted, firstAccount)
	} else if none {
		key, _, err := apikey.Create(path, firstAccount, 0)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintf(stdout, firstKeyText, path, p.Name, key, key, url); err != nil {
			return nil, fmt.Errorf("the first key could not be printed: %w; remove %s and start again", err, path)
		}
	}
	return apikey.Open(path, log)
}

const firstKeyText = `There was no key file. %s now holds the hash of this API key,
which is not shown again ("%s keys create" makes others):

    %s

Try it:

    curl -H 'Authorization: Bearer %s' %s/pets

`
