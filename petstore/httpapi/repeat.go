package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// repeatInterval is how often a repeated failure is logged.
const repeatInterval = 10 * time.Second

// repeats counts failed requests instead of logging each: on a full disk, every
// change fails in the same way.
type repeats struct {
	mu    sync.Mutex
	count map[outcome]int // since the outcome was last logged
}

// add counts a failed request. It reports whether one with the same outcome was
// logged within the last repeatInterval. If so, the caller does not log this one:
// the count is logged at the end of the interval.
func (p *repeats) add(o outcome, log *slog.Logger) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.count[o]; ok {
		p.count[o]++
		return true
	}
	if p.count == nil {
		p.count = map[outcome]int{}
	}
	p.count[o] = 0
	time.AfterFunc(repeatInterval, func() { p.report(o, log) })
	return false
}

func (p *repeats) report(o outcome, log *slog.Logger) {
	p.mu.Lock()
	n := p.count[o]
	if n == 0 {
		delete(p.count, o)
	} else {
		p.count[o] = 0
		time.AfterFunc(repeatInterval, func() { p.report(o, log) })
	}
	p.mu.Unlock()
	if n > 0 {
		log.LogAttrs(context.Background(), slog.LevelWarn, "more requests failed",
			slog.Int("status", o.Status), slog.String("code", string(o.Code)), slog.String("message", o.Message), slog.Int("requests", n))
	}
}
