// Package serve is what the servers of the petstore have in common: their
// command line, addresses, API keys, health, draining, backups and the admin
// address. A server is a [Program] with a store of its own.
package serve

import (
	"context"
	"flag"
	"log/slog"
	"os/signal"
	"slices"
	"syscall"

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

	// InFile reports that the store is in a file, so that there are flags for backups.
	InFile bool

	// Open opens the store once all flags are set. It creates a missing store
	// unless mustExist is true. The operator sees its errors as they are, in
	// one line.
	Open func(ctx context.Context, log *slog.Logger, mustExist bool) (*Opened, error)
}

// Store is what every server needs of a store.
type Store interface {
	petstore.Service
	petstore.Messages
	petstore.Queue
	petstore.Statistics

	// Close closes the store and keeps everything that it acknowledged.
	Close() error
}

// Opened is a store that is open, and what the server should know of it.
type Opened struct {
	Store
	Ready func(context.Context) error // why it cannot serve requests now, for /readyz
	File  *storage.Store              // the store itself; nil: it is not in a file
	Path  string                      // of the file; "": there is none

	// Database is the hosts and the name of the database, for the log. "": there is none.
	Database string

	// Failed is closed when the store must be opened again, for the reason that
	// Ready returns. The server then ends with exit code 1. nil: never.
	Failed <-chan struct{}
}

// Main runs the program as the process. It returns the exit code: 0, 1 for an
// error, 2 for wrong use.
func (p *Program) Main() int {
	signal.Ignore(syscall.SIGPIPE) // the log and a printed key may have no reader
	const name = "serve"
	var c config
	serve := flags.Command{
		Name:  name,
		About: "serve until SIGTERM or SIGINT",
		Flags: func(fs *flag.FlagSet) {
			files := "the key file"
			if p.InFile {
				files = "the file of the store or the key file"
			}
			c.flags(fs, files)
			if p.InFile {
				c.backupFlags(fs)
			}
			p.StoreFlags(fs)
		},
		Run: func(call *flags.Call) error { return p.serve(call, &c) },
	}
	commands := slices.Concat([]flags.Command{serve}, keysCommands(), p.Commands)
	return (&flags.Program{
		Name: p.Name, About: p.About, Default: name, Commands: commands,
		Notes: "Exit codes: 0 success, 1 error, 2 wrong use. Some commands have others, which their help names.\n",
	}).Main()
}
