package conformance_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/animalstore/conformance"
)

// silent is a transport whose requests get no response in time if never returns true. It
// does not wait for that time.
type silent struct{ never func(*http.Request) bool }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.never(r) {
		return nil, os.ErrDeadlineExceeded
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A target that never responds to one kind of request, but soon to ordinary ones,
// violates the contract. If ordinary ones get no response either, or a late one, or if
// the request gets a response when it is sent again, the target may not be at fault.
func TestNoResponse(t *testing.T) {
	const check = "clients.lower-case"
	for _, tt := range []struct {
		name        string
		silent      int64 // how many requests of the client get no response
		others      bool  // after the first of them, ordinary ones get none either
		late        bool  // after the first of them, an ordinary one gets its response late
		want        conformance.Verdict
		wantOutcome conformance.Outcome
	}{
		{"never", 1000, false, false, conformance.Fail, conformance.NotConformant},
		{"at the third attempt", 2, false, false, conformance.Pass, conformance.Partial},
		{"nor do others", 1000, true, false, conformance.Errored, conformance.Incomplete},
		{"and another gets one late", 1000, false, true, conformance.Errored, conformance.Incomplete},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			opts := conformance.Options{Run: []string{check, "pets.list.status"}, Parallel: 1}
			if tt.late {
				opts.Timeout = 4 * time.Second
			}
			opts.Transport = silent{func(r *http.Request) bool {
				if r.Header[strings.ToLower("Authorization")] != nil {
					return n.Add(1) <= tt.silent
				}
				if tt.late && n.CompareAndSwap(1, 2) {
					time.Sleep(opts.Timeout / 2)
				}
				return n.Load() > 0 && tt.others
			}}
			r := run(t, variant{}, opts)
			if got := result(t, r, check); got.Verdict != tt.want || r.Outcome != tt.wantOutcome {
				t.Errorf("%s: %s, %s", r.Headline(), got.Verdict, got.Message)
			}
		})
	}
}

// If many requests get no response, a run sends only some of them again, so that it
// ends soon.
func TestManyWithoutResponse(t *testing.T) {
	never := silent{func(r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		if r.GetBody != nil {
			body, _ := r.GetBody()
			if b, _ := io.ReadAll(body); strings.Contains(string(b), `"available"`) {
				return false
			}
		}
		return true
	}}
	r := run(t, variant{}, conformance.Options{Run: []string{"pets.create.400.body.*"}, Parallel: 1, Transport: never})
	if checks := len(r.Results) - r.Counts.Skip; checks < 20 || r.Counts.Fail != 6 || r.Counts.Errored != checks-6 {
		t.Error(r.Headline())
	}
}

// A run against a target that stops responding ends soon.
func TestSilence(t *testing.T) {
	var n atomic.Int64
	opts := conformance.Options{Timeout: time.Second, Transport: silent{func(*http.Request) bool {
		if n.Add(1) < 300 {
			return false
		}
		time.Sleep(100 * time.Millisecond)
		return true
	}}}
	r := run(t, variant{}, opts)
	if out := text(r); r.Outcome != conformance.Incomplete || !strings.Contains(out, "the run was stopped: the target has not responded for ") {
		t.Error(out)
	}
}
