package petstoretest

import (
	"fmt"
	"slices"
	"testing"
)

// Finding is one kind of mistake that the client made.
type Finding struct {
	Name    string `json:"name"`    // such as repeated-without-key
	Certain bool   `json:"certain"` // a mistake whatever the client wanted; otherwise it is worth a look
	Count   int    `json:"count"`
	Did     string `json:"did"`   // what the client did, the first time
	Right   string `json:"right"` // what would be right

	// Proof is the exchange that shows it, after the one that the client should
	// have heeded, if there is one. It does not contain API keys.
	Proof string `json:"proof"`

	// Difficulties are the names of those that it belongs to.
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
	Findings  []Finding `json:"findings"`  // those that are certain first
	Met       []Met     `json:"met"`       // one for each difficulty of the server
}

// Met says how the clients dealt with a difficulty.
type Met struct {
	Difficulty string `json:"difficulty"`
	Times      int    `json:"times"`

	// Handled is how often a client demonstrably did what is right: repeated a
	// request after Retry-After or with the same Idempotency-Key, followed a
	// Link, asked for the exact ID. Most difficulties are handled without a trace.
	Handled int `json:"handled"`

	Failed []string `json:"failed,omitempty"` // names of the certain findings that belong to it
}

// Findings returns what the clients got wrong so far, what is certain first. It is
// empty without [Difficult].
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

// report reports the findings to a test: those that are certain as errors.
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
