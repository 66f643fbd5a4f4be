package conformance_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
)

const patience = 3 * time.Minute // the machine may be busy

// run judges v. It repeats no failure.
func run(t *testing.T, v variant, opts conformance.Options) *conformance.Report {
	t.Helper()
	return runAndRepeat(t, v, opts, 0)
}

// runAndRepeat judges v, and repeats failures for at most the time limit.
func runAndRepeat(t *testing.T, v variant, opts conformance.Options, limit time.Duration) *conformance.Report {
	t.Helper()
	if opts.Timeout == 0 {
		opts.Timeout = patience
	}
	r, err := conformance.RunAndRepeat(t.Context(), newServer(t, v), &opts, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func result(t *testing.T, r *conformance.Report, id string) conformance.Result {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(r conformance.Result) bool { return r.ID == id })
	if i < 0 {
		t.Fatalf("the report does not have %s", id)
	}
	return r.Results[i]
}

func TestReadOnly(t *testing.T) {
	var mu sync.Mutex
	methods := map[string]int{}
	v := variant{pets: filled(150), http: requests("", func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		methods[r.Method]++
	})}
	id := int64(7)
	for _, opts := range []conformance.Options{{ReadOnly: true}, {ReadOnly: true, Pet: &id}} {
		r := run(t, v, opts)
		if r.Outcome != conformance.Partial || r.Counts.Pass < 60 || len(r.Left.Pets) > 0 {
			t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
		}
		if got := result(t, r, "pets.create.status"); got.Verdict != conformance.Skip || !strings.Contains(got.Message, "read-only") {
			t.Errorf("pets.create.status: %s, %s", got.Verdict, got.Message)
		}
		for _, id := range []string{"pets.list.limit.max", "pets.list.filter.sold.only", "pets.get.list", "auth.get.none"} {
			if got := result(t, r, id); got.Verdict != conformance.Pass {
				t.Errorf("%s: %s, %s", id, got.Verdict, got.Message)
			}
		}
	}
	delete(methods, "GET")
	if len(methods) > 0 {
		t.Errorf("a read-only run sent %v", methods)
	}

	lost := variant{pets: filled(10), http: status(fetch, 200, 404)}
	r := run(t, lost, conformance.Options{ReadOnly: true, Pet: &id, Run: []string{"pets.get.status"}})
	if r.Outcome != conformance.NotConformant {
		t.Errorf("the pet in the options is listed and cannot be read: %s", r.Headline())
	}
}

func TestSelection(t *testing.T) {
	r := run(t, variant{}, conformance.Options{Run: []string{"pets.list.limit.*", "auth.list.none"}, Skip: []string{"*.between"}})
	var ran []string
	for _, result := range r.Results {
		if result.Verdict != conformance.Skip {
			ran = append(ran, result.ID)
		}
	}
	want := []string{"pets.list.limit.default", "pets.list.limit.default-filtered", "pets.list.limit.min", "pets.list.limit.max",
		"pets.list.limit.above", "pets.list.limit.filtered", "auth.list.none", "pets.list.limit.full"}
	if diff := cmp.Diff(want, ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
	if len(r.Results) != len(conformance.Checks()) {
		t.Errorf("the report has %d checks of %d", len(r.Results), len(conformance.Checks()))
	}
}

func TestSections(t *testing.T) {
	for section, want := range map[string][]string{"4.3": {"4.3"}, "2": {"2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7"}, "RFC 9110": {"RFC 9110"}} {
		checks, err := conformance.Select(nil, nil, []string{section})
		if err != nil || len(checks) == 0 {
			t.Errorf("section %s: %d checks, %v", section, len(checks), err)
		}
		for _, c := range checks {
			cl, _ := conformance.FindClause(c.Clause)
			if !slices.ContainsFunc(want, func(s string) bool { return strings.Contains(cl.Section, s) }) {
				t.Errorf("section %s has %s, of section %s", section, c.ID, cl.Section)
			}
		}
	}
}

// A field that the options add is in every request, and its value in no report.
func TestHeader(t *testing.T) {
	const secret = "s3cret-of-the-gateway"
	var lacking atomic.Int64
	v := variant{http: both(requests("", func(r *http.Request) {
		if r.Header.Get("X-Gateway") != secret {
			lacking.Add(1)
		}
	}), header("", 0, "X-Echo", secret))}
	r := run(t, v, conformance.Options{Header: http.Header{"X-Gateway": {secret}}, Run: []string{"pets.create.*", "auth.list.*"}})
	b := marshal(r)
	if n := lacking.Load(); n > 0 || !bytes.Contains(b, []byte("X-Gateway")) || bytes.Contains(b, []byte(secret)) {
		t.Errorf("%d requests lack the field; the report has its name: %v, and its value: %v", n, bytes.Contains(b, []byte("X-Gateway")), bytes.Contains(b, []byte(secret)))
	}
}

// A run with a rate takes at least as long as its requests take at that rate.
func TestRate(t *testing.T) {
	const rate = 200
	r := run(t, variant{}, conformance.Options{Rate: rate, Run: []string{"auth.list.*"}})
	sent := 0
	for _, result := range r.Results {
		sent += len(result.Exchanges)
	}
	if least := float64(sent-1) / rate; sent < 9 || r.Seconds < least {
		t.Errorf("%d requests took %.3f s, want at least %.3f s", sent, r.Seconds, least)
	}
}

func TestOutcomes(t *testing.T) {
	broken := variant{http: status(create, 201, 200)}
	lax := variant{http: header(create, 201, "Location", "")}
	full := variant{pets: filled(10)}
	known := []conformance.Known{{ID: "pets.create.status", Reason: "it is being worked on"}}
	for _, tt := range []struct {
		name    string
		v       variant
		run     string
		opts    conformance.Options
		outcome conformance.Outcome
		passed  bool
		counts  conformance.Counts
	}{
		{"a known failure", broken, "pets.create.status pets.list.status", conformance.Options{Known: known}, conformance.Partial, true, conformance.Counts{Pass: 1, Known: 1}},
		{"a known failure that passes", variant{}, "pets.create.status pets.list.status", conformance.Options{Known: known}, conformance.Partial, false, conformance.Counts{Pass: 2, Stale: 1}},
		{"a known failure that does not run", broken, "pets.list.status", conformance.Options{Known: known}, conformance.Partial, true, conformance.Counts{Pass: 1}},
		{"a warning", lax, "http.location", conformance.Options{}, conformance.Partial, true, conformance.Counts{Warn: 1}},
		{"a warning with level recommended", lax, "http.location", conformance.Options{Level: conformance.Recommended}, conformance.NotConformant, false, conformance.Counts{Warn: 1}},
		{"an inconclusive check", full, "pets.list.empty pets.list.status", conformance.Options{}, conformance.Partial, true, conformance.Counts{Pass: 1, Inconclusive: 1}},
		{"an inconclusive check in a strict run", full, "pets.list.empty pets.list.status", conformance.Options{Strict: true}, conformance.Incomplete, false, conformance.Counts{Pass: 1, Inconclusive: 1}},
		{"a run that could not judge anything", full, "pets.list.empty", conformance.Options{}, conformance.Incomplete, false, conformance.Counts{Inconclusive: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Run = strings.Fields(tt.run)
			r := run(t, tt.v, tt.opts)
			tt.counts.Skip = len(conformance.Checks()) - len(tt.opts.Run)
			if r.Outcome != tt.outcome || r.Passed() != tt.passed || r.Counts != tt.counts {
				t.Errorf("%s, passed %v, %+v", r.Headline(), r.Passed(), r.Counts)
			}
		})
	}
}

func TestReadKnown(t *testing.T) {
	list, err := conformance.ReadKnown(strings.NewReader("# ours\n\n pets.get.status\tuntil the new router \nauth.get.none x\n"))
	want := []conformance.Known{{ID: "pets.get.status", Reason: "until the new router"}, {ID: "auth.get.none", Reason: "x"}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Errorf("a list of known failures: %v (-want +got):\n%s", err, diff)
	}
	if _, err := conformance.ReadKnown(strings.NewReader("\npets.get.status\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a known failure without a reason: %v", err)
	}
}

// The generated bodies depend on the seed alone.
func TestSeed(t *testing.T) {
	sent := func(seed uint64, parallel int) []string {
		r := run(t, variant{}, conformance.Options{Run: []string{"generated.*"}, Seed: seed, Parallel: parallel})
		var bodies []string
		for _, result := range r.Results {
			for _, x := range result.Exchanges {
				bodies = append(bodies, strings.ReplaceAll(x.RequestBody, r.Left.Mark, "MARK"))
			}
		}
		if r.Seed != seed && seed != 0 || r.Seed == 0 {
			t.Errorf("the report has the seed %d, want %d", r.Seed, seed)
		}
		return bodies
	}
	first := sent(42, 1)
	if diff := cmp.Diff(first, sent(42, 4)); diff != "" {
		t.Errorf("the same seed (-want +got):\n%s", diff)
	}
	if cmp.Equal(first, sent(43, 1)) {
		t.Error("another seed has the same bodies")
	}
	if cmp.Equal(sent(0, 1), sent(0, 1)) {
		t.Error("two runs without a seed send the same bodies")
	}
}

// If the target stops responding, the run is incomplete and no check fails.
func TestTargetGoesAway(t *testing.T) {
	srv := newLoopback(variant{}.handler())
	target := conformance.Target{URL: srv.URL + "/v1", Key: testKey}
	n := 0
	r, err := conformance.Run(t.Context(), target, &conformance.Options{Parallel: 1, Done: func(conformance.Result) {
		if n++; n == 20 {
			srv.CloseClientConnections()
			srv.Close()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || r.Counts.Fail > 0 || r.Counts.Errored < 50 {
		t.Errorf("%s, %+v", r.Headline(), r.Counts)
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := conformance.Run(ctx, newServer(t, variant{}), &conformance.Options{Parallel: 1, Done: func(conformance.Result) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || r.Counts.Fail > 0 {
		t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
	}
}

// A target that asks to wait too long does not violate the contract.
func TestUnwilling(t *testing.T) {
	for name, w := range map[string]wrapper{
		"429 for an hour": responses(create, 0, func(res *response) { res.status = 429; res.header.Set("Retry-After", "3600") }),
		"503 for an hour": responses(create, 0, func(res *response) { res.status = 503; res.header.Set("Retry-After", "3600") }),
		"507":             status(create, 201, 507),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: w}, conformance.Options{Run: []string{"pets.create.status", "pets.create.echo", "pets.list.status"}})
			if r.Outcome != conformance.Incomplete || r.Counts.Fail > 0 || r.Counts.Errored == 0 {
				t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	hang := responses(create, 0, func(res *response) { <-res.request.Context().Done() })
	r := run(t, variant{http: hang}, conformance.Options{Run: []string{"pets.create.status", "pets.list.status"}, Timeout: 2 * time.Second})
	got := result(t, r, "pets.create.status")
	stopped := strings.Contains(got.Message, "the target has not responded for") // on a busy machine the run may end first
	if got.Verdict != conformance.Errored || !stopped && !strings.Contains(got.Message, "no response within 2s") || r.Outcome != conformance.Incomplete {
		t.Errorf("%s: %s, %s", r.Headline(), got.Verdict, got.Message)
	}
}

// A target that drops the connection for one kind of request violates the contract.
func TestDropped(t *testing.T) {
	r := run(t, variant{http: where(`\r\n\r\nnull$`, drops)}, conformance.Options{Run: []string{"pets.create.400.body.null"}})
	got := result(t, r, "pets.create.400.body.null")
	if got.Verdict != conformance.Fail || !strings.Contains(got.Message, "other requests get responses") || got.Exchanges[got.Proof].Attempts != 3 {
		t.Errorf("%s, %s, %+v", got.Verdict, got.Message, got.Exchanges)
	}
}
