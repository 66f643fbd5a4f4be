package serve

import (
	"crypto/tls"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"example.com/animalstore/petstore/apikey"
)

const serveName = "serve"

func (p *Program) serveCommand() Command {
	var c config
	return Command{
		Name:  serveName,
		About: "serve until SIGTERM, SIGINT or, without TLS, SIGHUP",
		Flags: func(fs *flag.FlagSet) {
			c.flags(fs)
			if p.StoreFile != nil {
				c.fileFlags(fs)
			}
			if p.StoreFlags != nil {
				p.StoreFlags(fs)
			}
		},
		Run: func(call *Call) error {
			if err := c.check(call.Args); err != nil {
				return err
			}
			return p.serve(call, &c)
		},
	}
}

// server is a server while it serves.
type server struct {
	config   *config
	log      *slog.Logger
	store    *Store
	keys     *apikey.File
	cert     atomic.Pointer[tls.Certificate] // nil: without TLS
	counters counters
	draining atomic.Bool

	public []*endpoint // what clients use
	admin  *endpoint   // nil: none
	ended  chan error  // from an endpoint that stopped by itself
}

// serve is the command "serve". A server that cannot start prints one line, its
// error: nothing is logged before. Nor is a key made for it.
func (p *Program) serve(call *Call, c *config) (err error) {
	signal.Ignore(syscall.SIGPIPE) // from a log whose reader is gone
	queue := newLogQueue(call.Stderr, c.logHandler)
	defer queue.close()
	s := &server{config: c, log: slog.New(c.logHandler(queue)), ended: make(chan error, 3)}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	hangups := make(chan os.Signal, 1)
	if c.tlsCert != "" || !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
	}
	defer s.closeListeners()
	if err := s.listen(); err != nil {
		return err
	}
	first, err := p.mayMake(c)
	if err != nil {
		return err
	}
	if s.store, err = p.Open(call.Context, s.log, !first); err != nil {
		return err
	}
	if s.keys, err = p.openKeys(call.Stdout, c.keys, s.url(s.public[0]), first, s.log); err != nil {
		if f := s.store.File; f != nil && f.New {
			_ = os.Remove(f.Path) // while it is still locked; the next start is a first start again
		}
		_ = s.store.Close()
		return fmt.Errorf("-keys: %w", err)
	}
	defer s.keys.Close()
	s.start()
	return s.wait(signals, hangups)
}
