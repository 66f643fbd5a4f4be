// Package serve is what the servers of the petstore have in common: their
// command line, listening, draining, health, logs, API keys and the admin
// address. A server brings a store and the flags that its store needs; see
// [Program].
package serve

import (
	"context"
	"flag"
	"io"
	"log/slog"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/storage"
)

// Program is a server with its command line. "NAME" and "NAME serve" serve;
// "NAME keys create", "keys list" and "keys revoke" work on the key file.
type Program struct {
	Name  string // of the executable
	About string // what it does, in one line

	// StoreFlags adds the flags that say where the store is.
	StoreFlags func(*flag.FlagSet)

	// StoreFile returns the path of the store's file, which the flag -db
	// names. nil: the store is not in a file, and a missing key file is made
	// whether the store is new or not.
	StoreFile func() string

	// Open opens the store, once all flags are set. It makes a missing store
	// unless mustExist is true. Its errors are shown to the operator as they
	// are, in one line.
	Open func(ctx context.Context, log *slog.Logger, mustExist bool) (*Store, error)

	// Commands are those that only this program has.
	Commands []Command
}

// Store is what a server needs of a store.
type Store struct {
	Service    petstore.Service
	Encoded    petstore.EncodedReader // nil: the results of Service are encoded
	Messages   petstore.Messages
	Queue      petstore.Queue
	Statistics petstore.Statistics

	File *storage.Info // nil: the store is not in a file

	// Snapshot returns a copy of the store as it is now, and its length in
	// bytes, for GET /backup on the admin address. nil: there is no such thing.
	Snapshot func(context.Context) (io.ReadCloser, int64, error)

	// Ready reports why requests cannot be answered now, for /readyz. nil:
	// they always can, until the store fails.
	Ready func(context.Context) error

	// Failed is closed when the store has to be opened again. The server then
	// ends with exit code 1. nil: never.
	Failed <-chan struct{}
	Err    func() error // why it failed

	Close func() error // ends the store, with all that it acknowledged kept
}

// Command is a command of a program beside serve.
type Command struct {
	Name  string // one word or more: "keys create"
	Args  string // the arguments after the flags, as the usage text shows them
	About string // what it does, in one line

	// Flags adds the command's flags; nil: it has none.
	Flags func(*flag.FlagSet)

	// Run carries it out, with all flags set. A [UsageError] ends the program
	// with exit code 2, another error with 1; it is shown in one line.
	Run func(c *Call) error
}

// Call is a command's call.
type Call struct {
	Context context.Context
	Args    []string // what is left after the flags
	Stdout  io.Writer
	Stderr  io.Writer
}
