package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
)

// FirstAccount is the account of the key that a first start creates.
const FirstAccount = "default"

func keysFlag(fs *flag.FlagSet, path *string) {
	fs.StringVar(path, "keys", "petstore.keys", "`file` with the API keys")
}

// keyFile is the path of a key file. It implements [Keys].
type keyFile string

func (f keyFile) Create(_ context.Context, account string, lifetime time.Duration) (key, id string, err error) {
	return apikey.Create(string(f), account, lifetime)
}

func (f keyFile) List(context.Context) ([]apikey.Key, error) {
	keys, err := apikey.List(string(f))
	return keys, noFile(string(f), err)
}

func (f keyFile) Revoke(_ context.Context, id string) (apikey.Key, error) {
	k, err := apikey.Revoke(string(f), id)
	return k, noFile(string(f), err)
}

// keysCommands are the commands that change or list API keys. A running server
// follows their changes within two seconds.
func (p *Program) keysCommands() []flags.Command {
	var path string
	var expires time.Duration
	define := func(fs *flag.FlagSet) {
		if p.Keys == nil {
			keysFlag(fs, &path)
		} else {
			p.StoreFlags(fs)
		}
	}
	with := func(run func(*flags.Call, Keys) error) func(*flags.Call) error {
		return func(c *flags.Call) error {
			if p.Keys == nil {
				return run(c, keyFile(path))
			}
			keys, closeKeys, err := p.Keys(c.Context)
			if err != nil {
				return err
			}
			return errors.Join(run(c, keys), closeKeys())
		}
	}
	return []flags.Command{{
		Name:  "keys create",
		Args:  "ACCOUNT",
		About: "create an API key for an account and print it; only its hash is kept",
		Flags: func(fs *flag.FlagSet) {
			define(fs)
			flags.Var(fs, &expires, "expires", 0, "`duration` that the key is valid for, such as 720h; 0: forever", flags.Duration(0))
		},
		Run: with(func(c *flags.Call, keys Keys) error { return p.createKey(c, keys, path, expires) }),
	}, {
		Name:  "keys list",
		About: "list the API keys: id, account, created, expires",
		Flags: define,
		Run:   with(listKeys),
	}, {
		Name:  "keys revoke",
		Args:  "ID",
		About: "revoke an API key",
		Flags: define,
		Run:   with(revokeKey),
	}}
}

func (p *Program) createKey(c *flags.Call, keys Keys, path string, expires time.Duration) error {
	if expires != 0 && expires < time.Second {
		return flags.Usagef("-expires: must be 0 or at least 1s, got %v", expires)
	}
	key, id, err := keys.Create(c.Context, c.Args[0], expires)
	if petstore.CodeOf(err) == petstore.CodeInvalid {
		return flags.Usagef("%v", err)
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.Stdout, key); err != nil {
		return fmt.Errorf("key %s was created but could not be printed: %w; revoke it and create another", id, err)
	}
	where := ""
	if path != "" {
		where = " -keys " + quoted(path)
	}
	fmt.Fprintf(c.Stderr, "key %s of account %s; to revoke it: %s keys revoke%s %s\n", id, c.Args[0], p.Name, where, id)
	return nil
}

// quoted returns text as one word for a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// noFile adds to the error of a missing key file the absolute path of the file, and
// what to do.
func noFile(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return fmt.Errorf("there is no key file %s; restore it from a copy, or name another with -keys; 'keys create' makes a new file, without the earlier keys", path)
}

func listKeys(c *flags.Call, from Keys) error {
	keys, err := from.List(c.Context)
	if err != nil {
		return err
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

func revokeKey(c *flags.Call, keys Keys) error {
	k, err := keys.Revoke(c.Context, c.Args[0])
	if errors.Is(err, apikey.ErrNoKey) {
		return fmt.Errorf("%w; keys list shows them", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "revoked %s of %s\n", k.ID, k.Account)
	return err
}
