package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/request"
	"example.com/animalstore/internal/serve/page"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// server is a server while it serves.
type server struct {
	*config
	log      *slog.Logger
	store    *Opened
	keys     httpapi.Authenticator
	newKey   bool // was printed
	counters *counters
	draining atomic.Bool
	started  time.Time

	certificate *certificate // nil: no TLS

	backups       sync.WaitGroup
	cancelBackups context.CancelFunc
	lastBackup    atomic.Pointer[time.Time] // when the newest backup was begun; if there is none, when the server was started

	pets      *endpoint
	messages  *endpoint   // nil: messages are at pets
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
	hasBackups := false
	if c.backupDir != "" {
		names, _, err := backups(c.backupDir, time.Now().AddDate(1000, 0, 0)) // the clock may be wrong
		if err != nil {
			return fmt.Errorf("-backup-dir: %w", err)
		}
		hasBackups = len(names) > 0
	}
	var logs slog.Handler = slog.NewTextHandler(call.Stderr, nil)
	if c.logFormat == "json" {
		logs = slog.NewJSONHandler(call.Stderr, nil)
	}
	s := &server{config: c, log: slog.New(logs), counters: newCounters(), started: time.Now(), ended: make(chan error, 3)}
	s.lastBackup.Store(&s.started)
	defer func() {
		for _, e := range s.endpoints {
			_ = e.Listener.Close()
		}
	}()
	err := s.listenAll()
	if err != nil {
		return err
	}
	// A new store would push the backups of a lost one out of the folder.
	c.mustExist = c.mustExist || hasBackups
	if s.store, err = p.Open(call.Context, s.log, c.mustExist); err != nil {
		if hasBackups && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w. No new store is made while -backup-dir has backups", err)
		}
		return err
	}
	if err := p.openKeys(call.Stdout, s); err != nil {
		_ = s.store.Close()
		return err
	}
	// The runtime counts the ballast as live, so it collects garbage less often. Nothing touches
	// it, so it takes no memory. Without it, a list takes 5 % more instructions.
	ballast := make([]byte, 12<<20)
	defer runtime.KeepAlive(ballast)
	signal.Ignore(syscall.SIGHUP) // which would end the process
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var ctx context.Context
	ctx, s.cancelBackups = context.WithCancel(call.Context)
	if c.backupDir != "" {
		s.backups.Go(func() { s.backUp(ctx) })
	}
	go s.start() // which may wait for a reader of the log
	return s.wait(signals)
}

// observe counts and logs a request after its response.
func (s *server) observe(r *http.Request, o httpapi.Observation) {
	if s.admin != nil {
		s.counters.request(o)
	}
	if s.accessLog {
		s.log.Info("request", "method", r.Method, "path", request.Path(r), "status", o.Status, "bytes", o.Bytes,
			"seconds", o.Duration.Seconds(), "account", o.Account, "request_id", o.RequestID)
	}
}

// start serves every address, and logs them and what the operator may not have meant.
func (s *server) start() {
	opts := &httpapi.Options{Logger: s.log, Messages: s.store.Store}
	if s.admin != nil || s.accessLog {
		opts.Observe = s.observe
	}
	attrs := []any{"url", s.pets.url() + basePath}
	if s.messages != nil {
		s.messages.http.Handler = &router{server: s, handler: httpapi.New(nil, s.keys, opts)}
		attrs = append(attrs, "messages", s.messages.url())
		opts.Messages = nil // the address of the pets has none
	}
	s.pets.http.Handler = &router{server: s, base: basePath, handler: httpapi.New(s.store.Store, s.keys, opts), page: page.New(s.messages == nil)}
	if s.admin != nil {
		s.admin.http.Handler = s.adminHandler()
		s.admin.http.SetKeepAlivesEnabled(false) // idle clients would keep its few places
		attrs = append(attrs, "admin", s.admin.url())
	}
	attrs = append(attrs, "store", s.store.Name)
	if s.newKey {
		attrs = append(attrs, "keys", "new")
	}
	for _, e := range s.endpoints {
		if e.http.TLSConfig == nil && !e.loopback() {
			s.log.Warn("other machines can reach this address, which has no TLS: API keys can be read on the way, and the admin address needs none", e.flag, e.Addr())
		}
	}
	s.log.Info("serving", append(attrs, "version", flags.Version())...)
	if s.certificate != nil {
		go s.certificate.watch(s.log)
	}
	for _, e := range s.endpoints {
		go e.serve(s.ended)
	}
}

// ready returns why requests should be sent elsewhere, for /readyz.
func (s *server) ready(ctx context.Context) error {
	if s.draining.Load() {
		return petstore.Errorf(petstore.CodeUnavailable, "the server is stopping")
	}
	if _, err := s.store.Stats(ctx); err != nil {
		return &petstore.Error{Code: petstore.CodeUnavailable, Message: "the store cannot be used now", Err: err}
	}
	return s.keysError(ctx)
}

// keysError returns why API keys cannot be checked now, as a request would find out.
func (s *server) keysError(ctx context.Context) error {
	_, err := s.keys.Authenticate(ctx, "not-a-key")
	if petstore.CodeOf(err) == petstore.CodeUnauthorized {
		return nil
	}
	return err
}

// connections returns how many clients are connected.
func (s *server) connections() int64 {
	n := s.pets.open.Load()
	if s.messages != nil {
		n += s.messages.open.Load()
	}
	return n
}
