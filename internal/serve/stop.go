package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"example.com/animalstore/internal/flags"
)

const (
	// turnAway is how long clients on kept connections, and balancers that
	// look at /readyz, are sent elsewhere before the addresses close. A client
	// may be sending a request when net/http closes its idle connection, but
	// not after it has read Connection: close.
	turnAway = time.Second

	// closeLimit is how long the store may take to close when the time for requests is over.
	closeLimit = 2 * time.Second
)

// wait serves until there is a reason to stop, and stops. It returns nil if every accepted
// request received its response. While it stops, a signal ends the process at once.
func (s *server) wait(signals chan os.Signal) error {
	limit, failed := s.drain, true
	var logReason func() // once abandon is due, since a log may hang
	select {
	case sig := <-signals:
		logReason = func() { s.log.Info("stopping", "signal", sig.String(), "drain", s.drain.String()) }
		failed = false
	case <-s.store.Failed:
		logReason = func() {
			_, err := s.store.Stats(context.Background())
			s.log.Error("the store has failed; if its file is still there, start the server again, and it reads what is on disk", "err", err)
		}
		limit = min(limit, time.Second) // all requests are refused
	case err := <-s.ended:
		logReason = func() { s.log.Error("an address is no longer served", "err", err) }
	}
	go func() { // signal.Stop would ignore SIGINT again in a background process of a script
		<-signals
		os.Exit(1)
	}()
	s.cancelBackups()
	defer time.AfterFunc(limit+closeLimit, s.abandon).Stop()
	briefly(logReason)
	if err := s.stop(limit); err != nil && !failed {
		briefly(func() { s.log.Error("stopped with an error", "err", err) })
		failed = true
	}
	if failed {
		return flags.Exit(1) // the log has the reason
	}
	briefly(func() { s.log.Info("stopped") })
	return nil
}

// briefly waits at most for a moment for log, which may write to a pipe that is full.
func briefly(log func()) {
	logged := make(chan struct{})
	go func() { log(); close(logged) }()
	select {
	case <-logged:
	case <-time.After(100 * time.Millisecond):
	}
}

// abandon ends the process although something still runs, such as a write to a disk that
// hangs.
func (s *server) abandon() {
	briefly(func() {
		s.log.Error("the process ends before the store is closed: a disk may hang; what was acknowledged is on disk")
	})
	os.Exit(1)
}

// stop turns clients away, waits until every request has its response, but at
// most for limit, and closes the store.
func (s *server) stop(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.draining.Store(true)
	for end := time.Now().Add(min(turnAway, limit/4)); s.connections() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	// At the same time, so that none accepts requests while another waits. Metrics are
	// served until then: the admin address closes last.
	var wg sync.WaitGroup
	cut := make([]error, len(s.endpoints))
	for i, e := range s.endpoints {
		if e == s.admin {
			wg.Wait()
		}
		wg.Go(func() {
			if e.http.Shutdown(ctx) != nil {
				cut[i] = fmt.Errorf("-%s: %d connections cut: their requests took longer than -drain", e.flag, e.open.Load())
				_ = e.http.Close()
			}
		})
	}
	wg.Wait()
	s.backups.Wait()
	return errors.Join(append(cut, s.store.Close())...)
}
