// Package serve is what the servers of the petstore have in common: their
// command line, addresses, API keys, health, logs, draining and the admin
// address. A server is a [Program] with a store of its own.
package serve

import (
	"context"
	"flag"
	"log/slog"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
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

	// InFile reports that the store is in a file, which the flag -must-exist is for
	// too, and which can be backed up.
	InFile bool

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

// Store is a store and what it offers to its server.
type Store struct {
	Backend
	Ready func(context.Context) error // why it cannot serve requests now, for /readyz
	File  *storage.Info               // nil: the store is not in a file

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
		KeysFlag(fs, &c.keyFile)
		fs.BoolVar(&c.mustExist, "must-exist", false, "refuse to start if a file of the store or the key file does not exist; for files on a volume that may not be mounted")
		if p.InFile {
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
			return p.serve(call, &c)
		},
	})
	line.Commands = append(line.Commands, keysCommands()...)
	line.Commands = append(line.Commands, p.Commands...)
	return line.Main()
}
