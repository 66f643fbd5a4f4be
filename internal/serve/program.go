// Package serve is what the servers of the petstore have in common: their
// command line, addresses, API keys, health, draining, backups and the admin
// address. A server is a [Program] with a store of its own.
package serve

import (
	"cmp"
	"context"
	"flag"
	"io"
	"log/slog"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore"
)

// Program is a server with its command line. It has the commands serve, which
// is the default, keys create, keys list and keys revoke.
type Program struct {
	Name     string // of the executable
	About    string // what it does, in one line
	Commands []flags.Command

	// StoreFlags defines the flags that say where the store is.
	StoreFlags func(*flag.FlagSet)

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
	petstore.Statistics // its errors say why the store cannot serve requests now

	// Export writes what a backup has.
	Export(context.Context, io.Writer) error

	// Close closes the store and keeps everything that it acknowledged.
	Close() error
}

// Opened is a store that is open, and what the server should know of it.
type Opened struct {
	Store
	Name string // for the log: its file or database

	// Failed is closed when the store must be opened again. The server then ends with exit
	// code 1. nil: never.
	Failed <-chan struct{}

	// Metrics calls gauge with each metric of its own. nil: there are none.
	Metrics func(gauge func(name, help string, value float64))
}

// Main runs the program as the process. It returns the exit code: 0, 1 for an
// error, 2 for wrong use.
func (p *Program) Main() int {
	signal.Ignore(syscall.SIGPIPE) // the log and a printed key may have no reader
	var c config
	serve := flags.Command{
		Name:  "serve",
		About: "serve until SIGTERM or SIGINT",
		Flags: func(fs *flag.FlagSet) {
			c.flags(fs)
			p.StoreFlags(fs)
		},
		Run: func(call *flags.Call) error { return p.serve(call, &c) },
	}
	commands := slices.Concat([]flags.Command{serve}, keysCommands(), p.Commands)
	return (&flags.Program{
		Name: p.Name, About: p.About, Commands: commands,
		Notes: "Exit codes: 0 success, 1 error, 2 wrong use. Some commands have others, which their help names.\n",
	}).Main()
}

// config is the flags of a server.
type config struct {
	addr, messagesAddr, adminAddr string // "": none
	keyFile                       string
	mustExist                     bool
	tlsCert, tlsKey               string // "": no TLS
	drain                         time.Duration
	accessLog                     bool
	logFormat                     string
	backupDir                     string // "": no backups
	backupEvery                   time.Duration
	backupKeep                    uint
}

// flags defines the flags.
func (c *config) flags(fs *flag.FlagSet) {
	fs.StringVar(&c.addr, "addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 picks a free one")
	fs.StringVar(&c.messagesAddr, "messages-addr", "", "`host:port` to serve POST /messages on, with the TLS and keys of -addr, and not below /v1 then; empty: below /v1 of -addr")
	fs.StringVar(&c.adminAddr, "admin-addr", "", "`host:port` for /metrics, /healthz, /readyz and the queued messages (/messages); it needs no key, so keep it private; empty: none")
	keysFlag(fs, &c.keyFile)
	fs.BoolVar(&c.mustExist, "must-exist", false, "refuse to start if the key file or the store does not exist, as on a volume that is not mounted")
	fs.StringVar(&c.tlsCert, "tls-cert", "", "`file` with the certificate chain (PEM), to serve HTTPS; needs -tls-key")
	fs.StringVar(&c.tlsKey, "tls-key", "", "`file` with the certificate's private key (PEM)")
	fs.BoolVar(&c.accessLog, "access-log", false, "log each request below /v1 and its response, without its query, its body and its key")
	fs.StringVar(&c.logFormat, "log-format", "text", "`format` of the log: text or json")
	fs.DurationVar(&c.drain, "drain", 15*time.Second, "`duration` in which requests can finish after SIGTERM or SIGINT; a second signal ends the server at once")
	fs.StringVar(&c.backupDir, "backup-dir", "", "`folder` for backups of the store and the key file, for this server alone and on another disk if possible; empty: none are made")
	fs.DurationVar(&c.backupEvery, "backup-every", 0, "`duration` from one backup to the next; 0: 1h")
	fs.UintVar(&c.backupKeep, "backup-keep", 0, "`number` of backups to keep; older ones are removed; 0: 24")
}

// check completes the flags, or says which one is wrong.
func (c *config) check() error {
	switch {
	case c.addr == "": // it would be any address of this machine
		return flags.Usagef("-addr: must not be empty")
	case (c.tlsCert == "") != (c.tlsKey == ""):
		return flags.Usagef("-tls-cert and -tls-key: must be given together")
	case c.logFormat != "text" && c.logFormat != "json":
		return flags.Usagef("-log-format: must be text or json, got %q", c.logFormat)
	case c.backupDir == "" && (c.backupEvery != 0 || c.backupKeep != 0):
		return flags.Usagef("-backup-every and -backup-keep: need -backup-dir")
	}
	c.backupEvery, c.backupKeep = cmp.Or(c.backupEvery, time.Hour), cmp.Or(c.backupKeep, 24)
	if c.backupEvery < time.Second {
		return flags.Usagef("-backup-every: must be at least 1s, got %v", c.backupEvery)
	}
	if c.drain < 0 {
		return flags.Usagef("-drain: must not be negative, got %v", c.drain)
	}
	return nil
}
