package etcdstore

import (
	"context"
	"time"
)

// Expire deletes expired outcomes, as the store does about once a minute.
func (s *Store) Expire(ctx context.Context) error { return s.expire(ctx) }

// KeptFor returns a configuration with which outcomes are kept that long.
func (c Config) KeptFor(d time.Duration) Config {
	c.onceKept = d
	return c
}

// Sealed returns a value for key.
func Sealed(key string, body []byte) string { return seal(key, body) }
