package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/internal/rules"
)

// Timeout limits each call. A call that takes longer fails with
// petstore.CodeUnavailable, even if its context allows more.
const Timeout = 5 * time.Second

// Options are the settings of a [Store]. The zero value and nil are ready for
// use.
type Options struct {
	// QueueCapacity is how many messages may be queued at once.
	// 0: 100,000.
	QueueCapacity int

	// Logger logs that the database moved to another server, and failed cleanups.
	// nil: nothing is logged.
	Logger *slog.Logger

	// MustExist makes Open fail with an error that wraps fs.ErrNotExist if there
	// are no tables. false: Open creates them.
	MustExist bool

	timeout time.Duration // for tests; 0: Timeout
}

// Store is an open store. It is safe for concurrent use, and any number of
// processes can open the same database.
type Store struct {
	timeout  time.Duration
	capacity int64
	log      *slog.Logger

	pool     *pgxpool.Pool
	single   *pgxpool.Pool     // the connection that commits
	hosts    []*pgx.ConnConfig // one for each host
	timeline atomic.Int64      // the newest that any connection has seen

	context context.Context // ends when the store is closed
	cancel  context.CancelFunc
	stopped sync.WaitGroup // for what runs until context ends

	mu      sync.Mutex
	queue   chan *change
	closed  bool          // and so is queue
	drained chan struct{} // closed when the last change has its result
}

var (
	_ petstore.Service    = (*Store)(nil)
	_ petstore.Messages   = (*Store)(nil)
	_ petstore.Queue      = (*Store)(nil)
	_ petstore.Statistics = (*Store)(nil)
)

// Open opens the store in the database at url, and creates its tables if there
// are none, unless MustExist is set. url is a URL or a list of settings, as of any
// PostgreSQL program; what it leaves out comes from the PG* environment variables and
// the password file. With several hosts, Open uses the one that is the primary.
//
// ctx limits only the opening. The error names each host that could not be used.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = new(Options)
	}
	s := &Store{
		timeout:  cmp.Or(opts.timeout, Timeout),
		capacity: int64(cmp.Or(opts.QueueCapacity, rules.QueueCapacity)),
		log:      cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		queue:    make(chan *change, maxWaiting),
		drained:  make(chan struct{}),
	}
	s.context, s.cancel = context.WithCancel(context.Background())
	err := s.connect(url)
	if err == nil {
		if err = s.prepare(ctx, opts.MustExist); err != nil {
			s.disconnect()
		}
	}
	if err != nil {
		s.cancel()
		var e *pgconn.PgError
		if errors.As(err, &e) && e.Code == "42501" {
			err = fmt.Errorf("%w; docs/postgres.md says what rights the role needs", err)
		}
		return nil, fmt.Errorf("opening the store in PostgreSQL: %w", err)
	}
	go s.commitAll()
	s.every(expireEvery, s.expireAll)
	s.every(time.Second, s.followTimeline)
	return s, nil
}

// Close commits the changes that were accepted, if the database responds, and
// closes the connections. Later calls fail with petstore.CodeUnavailable;
// another Close does nothing. It returns nil.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	<-s.drained
	s.cancel()
	s.stopped.Wait()
	s.disconnect()
	return nil
}

func (s *Store) disconnect() {
	s.pool.Close()
	s.single.Close()
}

// do calls query with a connection, again on another one if that is lost, until it has
// a result or the time limit has passed.
func (s *Store) do(ctx context.Context, query func(context.Context, *pgx.Conn) error) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var cause error
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.context.Err() != nil {
			return errClosed
		}
		err := s.doOnce(limited, query)
		if err == nil || !transient(err) {
			return explain(err)
		}
		if cause == nil || !errors.Is(err, context.DeadlineExceeded) { // an earlier error says more
			cause = err
		}
		if !pause(limited, try) {
			return cmp.Or(ctx.Err(), unavailable("the database cannot be used now", cause))
		}
	}
}

// doOnce waits for the result of query even if ctx is cancelled: pgx would close the
// connection. It does not wait longer than the deadline.
func (s *Store) doOnce(ctx context.Context, query func(context.Context, *pgx.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return connError{err}
	}
	defer conn.Release()
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	if err := query(ctx, conn.Conn()); err != nil {
		return err
	}
	return s.current(conn.Conn().PgConn())
}

// Stats implements petstore.Statistics.
func (s *Store) Stats(ctx context.Context) (petstore.Stats, error) {
	var now state
	err := s.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return now.scan(conn.QueryRow(ctx, selectState))
	})
	return petstore.Stats{Pets: now.stored, QueuedMessages: now.queued}, err
}

// every calls do at each interval, until the store is closed.
func (s *Store) every(interval time.Duration, do func()) {
	s.stopped.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-s.context.Done():
				return
			case <-tick.C:
				do()
			}
		}
	})
}
