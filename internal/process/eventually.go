package process

import (
	"testing"
	"time"
)

// Eventually waits until ok returns nil, and returns how long that took. It fails
// the test after [Patience].
func Eventually(t testing.TB, what string, ok func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := ok()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > Patience {
			t.Fatalf("%s: timed out: %v", what, err)
		}
	}
}
