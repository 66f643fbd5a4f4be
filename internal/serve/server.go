package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve/page"
	"example.com/animalstore/internal/version"
	"example.com/animalstore/petstore/httpapi"
)

// server is a server while it serves.
type server struct {
	*config
	log      *slog.Logger
	lines    *logWriter // of log
	store    *Store
	keys     httpapi.Authenticator
	newKey   bool // was printed
	counters *counters
	inFlight atomic.Int64 // requests
	draining atomic.Bool
	backups  *backups // nil: none are made

	pets      *endpoint
	admin     *endpoint   // nil: none
	endpoints []*endpoint // all of them
	ended     chan error  // from an endpoint that stopped by itself
}

// serve is the command serve. A server that cannot start prints one line, its
// error, and logs nothing before. It creates no files unless it has the
// addresses, and no key unless it has the store.
func (p *Program) serve(call *flags.Call, c *config) error {
	if err := c.check(); err != nil {
		return err
	}
	if p.InFile {
		if err := c.backup.check(); err != nil {
			return err
		}
		// A new store would push the backups of a lost one out of the folder.
		if all, _ := Backups(c.backup.dir); c.backup.dir != "" && len(all) > 0 {
			c.mustExist = true
		}
	}
	lines := newLogWriter(call.Stderr)
	defer lines.close()
	s := &server{config: c, log: slog.New(slog.NewTextHandler(lines, nil)), lines: lines, counters: newCounters(), ended: make(chan error, 2)}
	defer func() {
		for _, e := range s.endpoints {
			_ = e.Listener.Close()
		}
	}()
	err := s.listenAll()
	if err != nil {
		return err
	}
	if s.store, err = p.Open(call.Context, s.log, c.mustExist, s.counters.committed); err != nil {
		return err
	}
	closeKeys, err := p.openKeys(call.Stdout, s)
	if err != nil {
		_ = s.store.Close()
		return err
	}
	defer closeKeys()
	// The runtime counts the ballast as live and so collects garbage only above 24 MiB
	// and twice what is live, which saves a tenth of the processor time under load.
	// Nothing touches it, so it takes no memory.
	ballast := make([]byte, 12<<20)
	defer runtime.KeepAlive(ballast)
	signal.Ignore(syscall.SIGHUP) // which would end the process
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if c.backup.dir != "" {
		s.backups = &backups{server: s}
	}
	ctx, cancel := context.WithCancel(call.Context)
	defer cancel()
	s.warn()
	s.start()
	if s.backups != nil {
		go s.backups.run(ctx)
	}
	return s.wait(signals)
}

// warn logs settings that the operator may not have meant.
func (s *server) warn() {
	if !s.pets.Addr().(*net.TCPAddr).IP.IsLoopback() && s.tlsCert == "" {
		s.log.Warn("other machines can reach this address, and without TLS their API keys can be read on the way", "addr", s.pets.Addr().String())
	}
}

// start serves every address.
func (s *server) start() {
	opts := &httpapi.Options{Messages: s.store.Backend, Logger: s.log}
	if s.accessLog || s.admin != nil {
		opts.Observe = func(r *http.Request, o httpapi.Observation) {
			s.counters.request(o)
			if s.accessLog {
				logRequest(s.log, r, o)
			}
		}
	}
	rt := &router{
		handler:  httpapi.New(s.store.Backend, s.keys, opts),
		ready:    s.store.Ready,
		draining: &s.draining,
		inFlight: &s.inFlight,
	}
	if s.page {
		rt.page = page.New(s.keys, s.store, s.refuse)
	}
	s.pets.http.Handler = rt
	attrs := []any{"url", s.pets.url() + basePath}
	if s.admin != nil {
		addr := s.admin.Addr().(*net.TCPAddr)
		if !addr.IP.IsLoopback() {
			s.log.Warn("the admin address needs no key and is open to other machines; keep them out", "admin-addr", addr.String())
		}
		s.admin.http.Handler = s.adminHandler(addr.IP.IsLoopback())
		attrs = append(attrs, "admin", s.admin.url())
	}
	if s.page {
		attrs = append(attrs, "page", s.pets.url()+"/")
	}
	if s.backups != nil {
		attrs = append(attrs, "backup-dir", s.backup.dir)
	}
	if f := s.store.File; f != nil {
		store := "existing"
		if f.New {
			store = "new"
		}
		attrs = append(attrs, "store", store, "file", f.Path, "pets", f.Pets, "schema", f.Schema)
	}
	if s.newKey {
		attrs = append(attrs, "keys", "new")
	}
	s.log.Info("serving", append(attrs, "version", version.String())...)
	for _, e := range s.endpoints {
		go e.serve(s.ended)
	}
}
