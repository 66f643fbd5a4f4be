// Package stimuli has the requests of a conformance run: what is sent, and in which order. It
// judges nothing.
//
// [Run] sends them. The order is in phases.go. The requests that are unusual or wrong are tables
// (bodies.go, texts.go and paths.go), each row of which says what is special about it. What the
// judges must know of a request is its [probe.Intent].
//
// Nothing in a request does harm if it is executed, but some targets fail for good after a
// name that is not UTF-8 or, as the last one, an unpaired surrogate.
package stimuli

import (
	"context"
	"net/http"
	"time"

	"example.com/animalstore/conformance/internal/probe"
)

// Config says what a run sends, and to which target.
type Config struct {
	URL, MessagesURL string // MessagesURL is empty if the caller does not know one
	Key              string

	PetsOnly  bool   // nothing is sent to POST /messages
	ReadOnly  bool   // only GET requests are sent
	Surrogate bool   // the unpaired surrogate is sent
	Category  *int64 // that the target accepts; nil: the run tries several

	// Enough is called after each phase of the run, and ends the run if it returns true. Nil:
	// the run sends everything.
	Enough func(Traffic) bool

	Parallel  int // the largest number of requests at a time
	Timeout   time.Duration
	Transport http.RoundTripper // see [probe.Config]
}

// Traffic is what a run has sent and received.
type Traffic struct {
	// Mark is in nearly every name and text of the run, and in those of no other run.
	Mark string

	// Exchanges are in the order in which they ended.
	Exchanges []*probe.Exchange

	// MessagesURL is the base URL of POST /messages. Empty: there is none, or the run did not
	// look for it.
	MessagesURL string

	// MessagesUnserved is a message that the target did not serve, if there were so many of them
	// that the run sent no more. Nil: it sent all.
	MessagesUnserved *probe.Exchange

	// Ended says why the run ended before it had sent everything. Nil: it did not.
	Ended error
}

// Run sends everything to the target. It returns when ctx ends, at the latest.
func Run(ctx context.Context, config Config) Traffic {
	s := newSession(ctx, config)
	defer s.client.Close()
	defer s.stop(nil)
	if s.begin() {
		s.phases()
	}
	return s.result()
}
