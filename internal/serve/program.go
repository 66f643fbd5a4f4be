// Package serve is what the servers of the petstore have in common: their
// command line, addresses, API keys, health, logs, draining and the admin
// address. A server is a [Program] with a store of its own.
package serve

import (
	"context"
	"flag"
	"log/slog"
	"maps"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage"
)

// Program is a server with its command line. It has the commands serve, which
// is the default, keys create, keys list and keys revoke.
type Program struct {
	Name     string // of the executable
	About    string // what it does, in one line
	Commands []flags.Command

	// StoreFlags defines the flags that say where the store is.
	StoreFlags func(*flag.FlagSet)

	// InFile reports that the store is in a file. Then the flag -must-exist says
	// that it must exist, and the key file too.
	InFile bool

	// Keys opens the API keys that the commands list and change, and returns a
	// function that closes them. The flags are those of StoreFlags. nil: the
	// keys are in a file, which the flag -keys names.
	Keys func(context.Context) (Keys, func() error, error)

	// Open opens the store once all flags are set. It creates a missing store
	// unless mustExist is true. The operator sees its errors as they are, in
	// one line. The store calls committed after each commit, with the number of
	// changes in it and how long it took.
	Open func(ctx context.Context, log *slog.Logger, mustExist bool, committed func(changes int, took time.Duration)) (*Store, error)
}

// Backend is the part of a store that every server needs.
type Backend interface {
	petstore.Service
	petstore.Messages
	petstore.Queue
	petstore.Statistics

	// Close closes the store and keeps everything that it acknowledged.
	Close() error
}

// Keys are API keys that the commands of a server list and change.
type Keys interface {
	// Create makes a key for an account, as apikey.New does, and keeps its hash.
	Create(ctx context.Context, account string, lifetime time.Duration) (key, id string, err error)

	// List returns all keys, expired ones too.
	List(ctx context.Context) ([]apikey.Key, error)

	// Revoke removes a key, and returns what was known about it. If there is
	// none with the ID, the error wraps apikey.ErrNoKey.
	Revoke(ctx context.Context, id string) (apikey.Key, error)
}

// Store is a store and what it offers to its server.
type Store struct {
	Backend
	Keys     httpapi.Authenticator       // the API keys; nil: they are in the file that -keys names
	FirstKey string                      // the API key that Open has made, with a new store; "": none
	Ready    func(context.Context) error // why it cannot serve requests now, for /readyz
	File     *storage.Info               // nil: the store is not in a file

	// Failed is closed when the store must be opened again, for the reason that
	// Ready returns. The server then ends with exit code 1. nil: never.
	Failed <-chan struct{}

	// SaveTo makes a new file with a checked copy, for -backup-dir. nil: the store is not
	// in a file.
	SaveTo func(ctx context.Context, path string) error
}

// Main runs the program as the process. It returns the exit code: 0, 1 for an
// error, 2 for wrong use.
func (p *Program) Main() int {
	signal.Ignore(syscall.SIGPIPE) // the log and a printed key may have no reader
	const serve = "serve"
	var c config
	define := func(fs *flag.FlagSet) {
		c.flags(fs)
		if p.Keys == nil {
			KeysFlag(fs, &c.keyFile)
		}
		if p.InFile {
			fs.BoolVar(&c.mustExist, "must-exist", false, "refuse to start without a store and a key file; for files on a volume that may not be mounted")
			c.backup.flags(fs)
		}
		p.StoreFlags(fs)
	}
	// A flag of serve has an environment variable, in every command.
	shared := flag.NewFlagSet(serve, flag.ContinueOnError)
	define(shared)
	env := make(map[string]string)
	shared.VisitAll(func(f *flag.Flag) {
		env[f.Name] = "PETSTORE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	})
	line := flags.Program{Name: p.Name, About: p.About, Default: serve, Env: env}
	line.Commands = append(line.Commands, flags.Command{
		Name:  serve,
		About: "serve until SIGTERM or SIGINT; each flag can also be set by the environment variable in parentheses",
		Flags: define,
		Run: func(call *flags.Call) error {
			c.variables = slices.Collect(maps.Values(env))
			return p.serve(call, &c)
		},
	})
	line.Commands = append(line.Commands, p.keysCommands()...)
	line.Commands = append(line.Commands, p.Commands...)
	return line.Main()
}
