package etcdstore

import (
	"context"
	"time"

	"google.golang.org/grpc"
)

// Expire deletes expired outcomes, as the store does about once a minute.
func (s *Store) Expire(ctx context.Context) error { return s.expire(ctx) }

// KeptFor returns a configuration with which outcomes are kept that long.
func (c Config) KeptFor(d time.Duration) Config {
	c.onceKept = d
	return c
}

// Intercepted returns a configuration with which f is called for each request to
// an endpoint, and decides whether to send it and what the result is.
func (c Config) Intercepted(f func(endpoint string, req any, send func() error) error) Config {
	c.intercept = func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return f(conn.Target(), req, func() error { return invoke(ctx, method, req, reply, conn, opts...) })
	}
	return c
}

// Waiting returns how many writes wait for a transaction.
func (s *Store) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Sealed returns a value for key.
func Sealed(key string, body []byte) string { return seal(key, body) }
