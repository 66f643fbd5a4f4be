package petstoretest

import (
	"fmt"
	"slices"
	"testing"
)

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name    string `json:"name"`    // such as repeated-without-key
	Certain bool   `json:"certain"` // true: a mistake, whatever the client wanted; false: it may be on purpose
	Count   int    `json:"count"`
	Did     string `json:"did"`   // what the client did, the first time
	Right   string `json:"right"` // what would be right

	// Proof shows the exchange with the mistake. If the client ignored an earlier
	// response, Proof shows that exchange first. Proof contains no API keys.
	Proof string `json:"proof"`

	// Difficulties are the names of the difficulties that cause the mistake.
	Difficulties []string `json:"difficulties,omitempty"`
}

// String returns the finding as a text of several lines.
func (f Finding) String() string {
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (%d times)", f.Count)
	}
	return fmt.Sprintf("%s: the client %s%s.\n%s\n\n%s", f.Name, f.Did, times, f.Right, f.Proof)
}

// Summary is what a difficult server has seen of its clients.
type Summary struct {
	Requests  int       `json:"requests"`
	Succeeded int       `json:"succeeded"` // how many of the requests got a 2xx
	Findings  []Finding `json:"findings"`  // the certain ones first
	Met       []Met     `json:"met"`       // one for each difficulty of the server
}

// Met says how the clients handled a difficulty.
type Met struct {
	Difficulty string `json:"difficulty"`
	Times      int    `json:"times"` // how many exchanges had the difficulty

	// Handled is how often the server saw that a client did the right thing: it
	// repeated a request after the wait that Retry-After asked for or with the same
	// Idempotency-Key, followed a Link, or requested the exact ID. For most
	// difficulties the server cannot see this, and Handled is 0.
	Handled int `json:"handled"`

	Failed []string `json:"failed,omitempty"` // names of the certain findings that the difficulty causes
}

// Findings returns the mistakes of the clients so far, the certain ones first. It
// is empty without [Difficult].
func (s *Server) Findings() []Finding { return s.Summary().Findings }

// Summary returns what the server has seen of its clients so far. It is empty
// without [Difficult].
func (s *Server) Summary() Summary {
	if s.watcher == nil {
		return Summary{}
	}
	return s.watcher.summary()
}

func (w *watcher) summary() Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Summary{Requests: w.requests, Succeeded: w.succeeded, Findings: w.findings()}
	for _, d := range w.active {
		met := Met{Difficulty: d.name, Times: w.met[d.name], Handled: w.handled[d.name]}
		for _, f := range s.Findings {
			if f.Certain && slices.Contains(f.Difficulties, d.name) {
				met.Failed = append(met.Failed, f.Name)
			}
		}
		s.Met = append(s.Met, met)
	}
	return s
}

// report reports the findings to t: the certain ones as errors, the others in its
// log.
func (w *watcher) report(t testing.TB) {
	t.Helper()
	for _, f := range w.summary().Findings {
		if f.Certain {
			t.Error(f)
		} else {
			t.Log(f)
		}
	}
}
