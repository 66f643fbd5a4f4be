package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// wait serves until there is a reason to stop, and stops. It returns nil if
// every accepted request got its response.
func (s *server) wait(signals, hangups <-chan os.Signal) error {
	limit := s.config.drain
	var sig os.Signal
	for sig == nil {
		select {
		case sig = <-signals:
		case sig = <-hangups:
			if s.cert.Load() != nil {
				go s.reloadCertificate() // its file may be slow to read
				sig = nil
			}
		case <-s.store.Failed:
			s.log.Error("the store has failed; start the server again, and it reads what is on disk", "err", s.store.Err())
			_ = s.stop(min(limit, failedLimit))
			return errEnded
		case err := <-s.ended:
			s.log.Error("an address is no longer served", "err", err)
			_ = s.stop(limit)
			return errEnded
		}
	}
	s.log.Info("stopping", "signal", sig.String(), "drain", limit.String())
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop(limit) }()
	select {
	case err := <-stopped:
		if err != nil {
			s.log.Error("stopped, but not in good order", "err", err)
			return errEnded
		}
		s.log.Info("stopped")
		return nil
	case sig := <-signals:
		s.log.Warn("ended at once, at the second signal", "signal", sig.String(), "connections", s.counters.connections.Load())
		return errEnded
	}
}

const (
	// turnAway is how long clients on kept connections, and balancers that
	// look at /readyz, are told to go elsewhere before the addresses close.
	// A connection that net/http closes because it is idle may have a request
	// on its way; one whose client was told has not. A connection that has
	// brought no request by then is closed: see closeSilent.
	turnAway = time.Second

	// failedLimit is how long answers are waited for when the store has
	// failed: they are refusals.
	failedLimit = time.Second
)

// stop turns clients away, waits until every request is answered, limit at the
// most, and closes the store.
func (s *server) stop(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.draining.Store(true)
	for end := time.Now().Add(min(turnAway, limit/4)); s.counters.connections.Load() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	errs := make(chan error, len(s.public))
	for _, e := range s.public {
		go func() { errs <- e.http.Shutdown(ctx) }()
	}
	var cut error
	for range s.public {
		if err := <-errs; err != nil {
			cut = fmt.Errorf("%d connections cut: their requests took longer than -drain", s.counters.connections.Load())
		}
	}
	for _, e := range s.endpoints() {
		_ = e.http.Close()
	}
	return errors.Join(cut, s.store.Close())
}
