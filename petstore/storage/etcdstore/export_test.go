package etcdstore

import "context"

// Expire drops the outcomes whose time is over, as the store does by itself
// once in a while.
func (s *Store) Expire(ctx context.Context) (records int, err error) {
	for {
		more, err := s.expireOne(ctx)
		if !more || err != nil {
			return records, err
		}
		records++
	}
}

// ForgetProcesses drops the marks of processes that have not written for long.
func (s *Store) ForgetProcesses(ctx context.Context) error { return s.forgetProcesses(ctx) }

// Sealed returns a value for key.
func Sealed(key string, body []byte) string { return seal(key, body) }
