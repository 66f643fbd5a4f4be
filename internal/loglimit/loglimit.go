// Package loglimit limits lines of a log: on a full disk every change fails in the same way,
// and a client can cause a line with each connection.
package loglimit

import (
	"sync"
	"time"
)

// Limit allows ten lines a second. The zero value is ready for use, and safe for concurrent
// use.
type Limit struct {
	mu     sync.Mutex
	second time.Time
	logged int // since second
}

// Allow reports whether another line may be logged.
func (l *Limit) Allow() bool {
	const perSecond = 10
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.second) >= time.Second {
		l.second, l.logged = time.Now(), 0
	}
	l.logged++
	return l.logged <= perSecond
}
