package client

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry says how often the client sends a request, and how long it waits between
// two tries. It waits MinWait after the first try and then twice as long each time,
// up to MaxWait. It shortens each wait by a random part of at most one half, and
// adds the time that Retry-After asks for.
//
// The client returns the error at once if the wait would last until the context's
// deadline. If there is no deadline, it does so if Retry-After is more than a
// minute.
//
// The client repeats
//   - every request that was not sent, or that got 408 or 429, which mean that the
//     server did not carry it out;
//   - a read after a lost connection, 500, 502, 503 or 504;
//   - with Options.IdempotentServer, a creation or submission in the same cases,
//     and after a 409 that says that the first request with its Idempotency-Key is
//     still under way.
type Retry struct {
	// Tries is the maximum number of times that the client sends a request. 1: it
	// repeats nothing. 0: as often as the deadline of the context allows, but at
	// most 8 times if there is no deadline or after a 500, which is often permanent.
	Tries int

	MinWait time.Duration // 0: 100 ms
	MaxWait time.Duration // 0: 2 s
}

func (p Retry) withDefaults() Retry {
	if p.MinWait <= 0 {
		p.MinWait = 100 * time.Millisecond
	}
	if p.MaxWait <= 0 {
		p.MaxWait = 2 * time.Second
	}
	p.MaxWait = max(p.MaxWait, p.MinWait)
	return p
}

// last reports whether a try that failed with f was the last one that p allows.
func (p Retry) last(ctx context.Context, try int, f *failure) bool {
	_, bounded := ctx.Deadline()
	switch {
	case p.Tries > 0:
		return try >= p.Tries
	case bounded && f.status != http.StatusInternalServerError:
		return false
	}
	return try >= 8
}

// longestRetryAfter is the longest Retry-After that a call without a deadline waits
// for.
const longestRetryAfter = time.Minute

// wait waits until a request may be sent again after a try that failed. It returns
// false if it must not be sent again.
func (c *Client) wait(ctx context.Context, try int, f *failure) bool {
	p := c.opts.Retry
	wait := p.MaxWait
	if shift := try - 1; shift < 32 && p.MinWait < wait>>shift {
		wait = p.MinWait << shift
	}
	wait = wait/2 + rand.N(wait/2+1)

	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline) - f.after
		wait = max(min(wait, left/2), min(wait, p.MinWait)) // makes the last try shortly before the deadline
		if wait > left {
			return false
		}
	} else if f.after > longestRetryAfter {
		return false
	}
	wait += f.after
	c.opts.Logger.LogAttrs(ctx, slog.LevelDebug, "sending the request again",
		slog.Any("error", f.err), slog.Int("try", try+1), slog.Duration("wait", wait))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		f.err = cancelled(ctx, f.err)
		return false
	}
}

// retryAfter returns how long a response asks the client to wait, or 0.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, 1<<31)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date")) // of the same clock as at
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}
