package etcdstore

import "context"

// Expire deletes expired outcomes, as the store does about once a minute.
func (s *Store) Expire(ctx context.Context) (records int, err error) {
	for {
		more, err := s.expireOne(ctx)
		if !more || err != nil {
			return records, err
		}
		records++
	}
}

// ForgetProcesses deletes the marks of processes that have not written for a
// day.
func (s *Store) ForgetProcesses(ctx context.Context) error { return s.forgetProcesses(ctx) }

// Sealed returns a value for key.
func Sealed(key string, body []byte) string { return seal(key, body) }
