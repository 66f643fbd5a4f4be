// Package serve is what the servers of the petstore have in common: their
// command line, addresses, API keys, health, logs, draining and the admin
// address. A server is a [Program] with a store of its own.
package serve

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"strings"
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

	// StoreFile returns the path of the store's file, which the flag -db
	// names. nil: the store is not in a file, and a start without a key file
	// creates one whether the store is new or not.
	StoreFile func() string

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

	// Failed returns a channel that is closed when the store must be opened
	// again, for the reason that Err returns. The server then ends with exit
	// code 1.
	Failed() <-chan struct{}
	Err() error

	// Close closes the store and keeps everything that it acknowledged.
	Close() error
}

// Store is a store and what it offers to its server.
type Store struct {
	Backend
	Ready   func(context.Context) error // why it cannot serve requests now, for /readyz
	Encoded petstore.EncodedReader      // nil: the server encodes what the Backend returns
	File    *storage.Info               // nil: the store is not in a file

	// Snapshot returns a copy of the store as it is now, and its length in
	// bytes, for GET /backup on the admin address. nil: there is no such path.
	Snapshot func(context.Context) (io.ReadCloser, int64, error)

	// Endpoints returns the endpoints that the store connects to, for /metrics.
	// nil: there are none.
	Endpoints func() []Endpoint
}

// Endpoint describes an endpoint that a store connects to.
type Endpoint struct {
	URL     string
	Up      bool
	Calls   int64 // requests, failed ones included
	Failed  int64
	Seconds float64 // how long the calls took together
}

// Main runs the program as the process. It returns the exit code: 0, 1 for an
// error, 2 for wrong use.
func (p *Program) Main() int {
	const serve = "serve"
	var c config
	define := func(fs *flag.FlagSet) {
		c.flags(fs)
		if p.StoreFile != nil {
			c.fileFlags(fs)
		}
		p.StoreFlags(fs)
	}
	// A flag of serve has an environment variable, in every command. Other
	// flags, such as one to overwrite a file, are meant for one call.
	shared := flag.NewFlagSet(serve, flag.ContinueOnError)
	define(shared)
	env := make(map[string]string)
	shared.VisitAll(func(f *flag.Flag) {
		env[f.Name] = "PETSTORE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	})
	line := flags.Program{Name: p.Name, About: p.About, Default: serve, Env: env}
	line.Commands = append(line.Commands, flags.Command{
		Name:  serve,
		About: "serve until SIGTERM, SIGINT or, without TLS, SIGHUP; each flag can also be set by the environment variable in parentheses",
		Flags: define,
		Run:   func(call *flags.Call) error { return p.serve(call, &c) },
	})
	line.Commands = append(line.Commands, p.keysCommands()...)
	line.Commands = append(line.Commands, p.Commands...)
	return line.Main()
}
