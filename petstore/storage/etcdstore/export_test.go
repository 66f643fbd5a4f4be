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

// Intercepted returns a configuration with which f sends all requests.
func (c Config) Intercepted(f grpc.UnaryClientInterceptor) Config {
	c.intercept = f
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
