package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
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
	lines    *logQueue // of log
	store    *Store
	keys     httpapi.Authenticator
	cert     atomic.Pointer[tls.Certificate] // nil: without TLS
	counters *counters
	draining atomic.Bool
	copying  sync.Mutex // see backup

	endpoints []*endpoint
	public    []*endpoint // those that clients use: -addr and, if set, -messages-addr
	admin     *endpoint   // nil: none
	ended     chan error  // from an endpoint that stopped by itself
}

// serve is the command serve. A server that cannot start prints one line, its
// error, and logs nothing before. It creates no files unless it has the
// addresses, and no key unless it has the store.
func (p *Program) serve(call *flags.Call, c *config) error {
	if err := c.check(); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // from a log whose reader is gone
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	hangups := make(chan os.Signal, 1)
	if c.tlsCert != "" || !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
	}
	queue := newLogQueue(call.Stderr, c.logHandler)
	defer queue.close()
	s := &server{config: c, log: slog.New(c.logHandler(queue)), lines: queue, counters: newCounters(), ended: make(chan error, 3)}
	defer func() {
		for _, e := range s.endpoints {
			_ = e.ln.Close()
		}
	}()
	if err := s.listen(call.Getenv); err != nil {
		return err
	}
	first, err := p.firstStart(c)
	if err != nil {
		return err
	}
	if s.store, err = p.Open(call.Context, s.log, !first, s.counters.committed); err != nil {
		return err
	}
	closeKeys, err := p.openKeys(call.Stdout, s, first)
	if err != nil {
		if f := s.store.File; f != nil && f.New {
			_ = os.Remove(f.Path) // while it is still locked; the next start is a first start again
		}
		_ = s.store.Close()
		if s.store.Keys == nil {
			err = fmt.Errorf("-keys: %w", err)
		}
		return err
	}
	defer closeKeys()
	keepHeapFloor()
	s.start()
	return s.wait(signals, hangups)
}

// start serves every address.
func (s *server) start() {
	opts := &httpapi.Options{
		Logger:     s.log,
		Observe:    s.observer(),
		SunsetGone: s.sunset == "gone",
	}
	pets := router{
		base:     s.basePath,
		ready:    s.store.Ready,
		draining: &s.draining,
	}
	attrs := []any{"url", s.public[0].url() + s.basePath}
	if len(s.public) > 1 {
		messages := pets
		messages.handler = allowOrigins(s.origins, s.counters.around(httpapi.NewMessages(s.store, s.keys, opts)))
		s.public[1].http.Handler = &messages
		attrs = append(attrs, "messages", s.public[1].url()+s.basePath+"/messages")
	} else {
		opts.Messages = s.store
	}
	pets.handler = allowOrigins(s.origins, s.counters.around(httpapi.New(s.store.Backend, s.keys, opts)))
	if s.page {
		pets.page = page.New(s.basePath, s.keys, s.store, s.refuse)
	}
	s.public[0].http.Handler = &pets
	if s.admin != nil {
		addr := s.admin.ln.Addr().(*net.TCPAddr)
		if !addr.IP.IsLoopback() {
			s.log.Warn("the admin address needs no key and is open to other machines; keep them out", "admin-addr", addr.String())
		}
		s.admin.http.Handler = s.adminHandler(addr.IP.IsLoopback())
		attrs = append(attrs, "admin", s.admin.url())
	}
	if path := s.public[0].socket(); path != "" {
		attrs = append(attrs, "socket", path)
	}
	if f := s.store.File; s.store.FirstKey != "" || f != nil && f.New {
		attrs = append(attrs, "store", "new")
	} else {
		attrs = append(attrs, "store", "existing")
	}
	if f := s.store.File; f != nil {
		attrs = append(attrs, "file", f.Path, "pets", f.Pets, "schema", f.Schema)
	}
	s.log.Info("serving", append(attrs, "version", version.String())...)
	for _, e := range s.endpoints {
		go e.serve(s.ended)
	}
}

// connections returns how many connections of clients are open.
func (s *server) connections() (n int64) {
	for _, e := range s.public {
		n += e.ln.open.Load()
	}
	return n
}
