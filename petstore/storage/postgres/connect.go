package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maxConnect limits the time to connect to a host that does not respond, so that
// there is time for the next one.
const maxConnect = 2 * time.Second

// connect makes the pools, which connect when they are used.
func (s *Store) connect(url string) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The text is "cannot parse `URL`: reason", and the URL may have a part of the password.
		parts := strings.Split(err.Error(), "`: ")
		return fmt.Errorf("cannot parse the URL or the settings: %s", parts[len(parts)-1])
	}
	c := config.ConnConfig
	c.ConnectTimeout = min(cmp.Or(c.ConnectTimeout, maxConnect), maxConnect)
	c.ValidateConnect = s.validate
	c.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
		conn.CustomData()[noticeKey] = n
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		neverCancel(c)
		return nil
	}
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return s.current(conn.PgConn()) == nil, nil
	}
	config.PingTimeout = maxConnect
	for _, host := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		i := slices.IndexFunc(s.hosts, func(h *pgx.ConnConfig) bool { return h.Host == host.Host && h.Port == host.Port })
		if i >= 0 { // the same host without TLS
			s.hosts[i].Fallbacks = append(s.hosts[i].Fallbacks, host)
			continue
		}
		one := c.Copy()
		one.Host, one.Port, one.TLSConfig, one.Fallbacks = host.Host, host.Port, host.TLSConfig, nil
		s.hosts = append(s.hosts, one)
	}
	if s.pool, err = pgxpool.NewWithConfig(s.context, config); err != nil {
		return err
	}
	single := config.Copy()
	single.MaxConns, single.MinConns, single.MinIdleConns = 1, 0, 0
	s.single, err = pgxpool.NewWithConfig(s.context, single)
	return err
}

// neverCancel keeps pgx from sending a CancelRequest, as it does when a context
// ends or a connection is lost. PostgreSQL would then end the wait for a standby,
// and show a commit that no standby has. It closes the connection instead: pgx would
// wait for 15 seconds until a host that hangs has closed it.
func neverCancel(c *pgx.ConnConfig) {
	var connected atomic.Pointer[pgconn.PgConn]
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if conn := connected.Load(); conn != nil {
			_ = conn.Conn().Close()
			return nil, errors.New("no CancelRequest is sent")
		}
		conn, err := dial(ctx, network, addr)
		if errors.Is(err, fs.ErrNotExist) { // of a Unix socket: callers would take it for that of Options.MustExist
			err = errors.New(err.Error())
		}
		return conn, err
	}
	c.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		connected.Store(conn)
		return nil
	}
}

// The keys of what a connection knows.
const (
	timelineKey = "timeline" // of its server: an int64
	noticeKey   = "notice"   // the last: a *pgconn.Notice
)

var errOldPrimary = errors.New("it was the primary before a failover")

// settings are those of each connection. They override those of the role and the database.
const settings = `
	SET search_path = pg_catalog;
	SET client_encoding = UTF8;
	SET client_min_messages = warning;        -- see confirmed
	SET synchronous_commit = on;              -- a configuration with less loses acknowledged changes
	SET plan_cache_mode = force_generic_plan; -- with a large table, planning a list takes as long as the list
	SET statement_timeout = 0;                -- each call has its own limit, an import and an export none
	SET lock_timeout = %[1]d;
	SET idle_in_transaction_session_timeout = %[1]d; -- a process that has gone silent must not keep the lock
	SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 5;
	SELECT CASE WHEN pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' THEN ''
		ELSE pg_walfile_name(pg_current_wal_insert_lsn()) END`

// validate accepts a connection to the primary, and notes its timeline. After a failover
// the new primary has a higher one. The earlier primary may not have noticed yet, and
// still shows what it had.
func (s *Store) validate(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, fmt.Sprintf(settings, (s.timeout/2).Milliseconds())).ReadAll()
	if err != nil {
		return err
	}
	file := string(results[len(results)-1].Rows[0][0]) // its name starts with the timeline
	if file == "" {
		return errors.New("it is read-only")
	}
	timeline, err := strconv.ParseInt(file[:8], 16, 64)
	if err != nil {
		return err
	}
	conn.CustomData()[timelineKey] = timeline
	newest := s.timeline.Load()
	for timeline > newest && !s.timeline.CompareAndSwap(newest, timeline) {
		newest = s.timeline.Load()
	}
	if timeline > newest && newest > 0 {
		s.log.Warn("the database has moved to another primary", "host", conn.Conn().RemoteAddr().String(), "timeline", timeline)
	}
	return s.current(conn)
}

// current returns an error if another connection has seen a newer timeline than conn.
func (s *Store) current(conn *pgconn.PgConn) error {
	if conn.CustomData()[timelineKey].(int64) < s.timeline.Load() {
		return connError{errOldPrimary}
	}
	return nil
}

// forgetNotice precedes a COMMIT that confirmed is called for.
func forgetNotice(conn *pgx.Conn) { delete(conn.PgConn().CustomData(), noticeKey) }

// confirmed returns an error if the last COMMIT of a connection, which has succeeded, may
// be lost in a failover: if the wait for the standby was cancelled, which PostgreSQL
// reports in a warning, or the server is no longer the primary.
func (s *Store) confirmed(conn *pgx.Conn) error {
	if n, ok := conn.PgConn().CustomData()[noticeKey].(*pgconn.Notice); ok && n.SeverityUnlocalized == "WARNING" {
		return connError{errors.New(n.Message)}
	}
	return s.current(conn.PgConn())
}

// String returns the hosts and the name of the database, without the user and the
// password, as in 10.0.0.1:5432,10.0.0.2:5432/petstore.
func (s *Store) String() string {
	var hosts []string
	for _, h := range s.hosts {
		hosts = append(hosts, fmt.Sprint(h.Host, ":", h.Port))
	}
	return strings.Join(hosts, ",") + "/" + s.hosts[0].Database
}

// followTimeline connects to every host, and so finds the newest timeline (validate). The
// pools do not notice by themselves that their primary has been replaced.
func (s *Store) followTimeline() {
	for _, host := range s.hosts {
		s.stopped.Go(func() {
			ctx, cancel := context.WithTimeout(s.context, maxConnect)
			defer cancel()
			if conn, err := pgx.ConnectConfig(ctx, host); err == nil {
				_ = conn.Close(ctx)
			}
		})
	}
}
