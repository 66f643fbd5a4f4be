package conformance_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	methods := map[string]int{}
	v := variant{pets: filled(150), http: requests("", func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		methods[r.Method]++
	})}
	r := run(t, v, conformance.Options{ReadOnly: true})
	if r.Outcome != conformance.Partial || r.Counts.Pass < 30 || r.Left.Pets > 0 {
		t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
	}
	if got := result(t, r, "pets.create.status"); got.Verdict != conformance.Skip || !strings.Contains(got.Message, "read-only") {
		t.Errorf("pets.create.status: %s, %s", got.Verdict, got.Message)
	}
	for _, id := range []string{"pets.list.limit.above", "pets.list.filter.only", "pets.get.pet", "auth.list"} {
		if got := result(t, r, id); got.Verdict != conformance.Pass {
			t.Errorf("%s: %s, %s", id, got.Verdict, got.Message)
		}
	}
	delete(methods, "GET")
	if len(methods) > 0 {
		t.Errorf("a read-only run sent %v", methods)
	}

	lost := variant{pets: filled(10), http: status(fetch, 200, 404)}
	if r := run(t, lost, conformance.Options{ReadOnly: true}); r.Outcome != conformance.NotConformant {
		t.Errorf("pets are listed and cannot be read: %s", r.Headline())
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	r := run(t, variant{}, conformance.Options{Run: []string{"pets.list.limit.*", "auth.list"}})
	var judged []string
	for _, result := range r.Results {
		if result.Verdict != conformance.Skip {
			judged = append(judged, result.ID)
		}
	}
	want := []string{"auth.list", "pets.list.limit.between", "pets.list.limit.default", "pets.list.limit.above", "pets.list.limit.filtered", "pets.list.limit.full"}
	if diff := cmp.Diff(want, judged); diff != "" {
		t.Errorf("what was judged (-want +got):\n%s", diff)
	}
	if len(r.Results) != len(conformance.Checks()) || r.Requests < 500 {
		t.Errorf("the report has %d checks of %d, and the run sent %d requests", len(r.Results), len(conformance.Checks()), r.Requests)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	broken := variant{http: status(create, 201, 200)}
	lax := variant{http: header(create, 201, "Location", "")}
	empty := variant{http: edit(list, 200, `.*`, `[]`)}
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
		{"a known failure that is not selected", broken, "pets.list.status", conformance.Options{Known: known}, conformance.Partial, true, conformance.Counts{Pass: 1}},
		{"a warning", lax, "http.location", conformance.Options{}, conformance.Partial, true, conformance.Counts{Warn: 1}},
		{"a warning with level recommended", lax, "http.location", conformance.Options{Level: conformance.Recommended}, conformance.NotConformant, false, conformance.Counts{Warn: 1}},
		{"an inconclusive check", empty, "pets.list.ids pets.list.status", conformance.Options{}, conformance.Partial, true, conformance.Counts{Pass: 1, Inconclusive: 1}},
		{"a run that could not judge anything", empty, "pets.list.ids", conformance.Options{}, conformance.Incomplete, false, conformance.Counts{Inconclusive: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
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
	list, err := conformance.ReadKnown(strings.NewReader("# ours\n\n pets.get.status\tuntil the new router \nauth.get x\n"))
	want := []conformance.Known{{ID: "pets.get.status", Reason: "until the new router"}, {ID: "auth.get", Reason: "x"}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Errorf("a list of known failures: %v (-want +got):\n%s", err, diff)
	}
	if _, err := conformance.ReadKnown(strings.NewReader("\npets.get.status\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a known failure without a reason: %v", err)
	}
}

// If the target stops responding, the run is incomplete, no check fails, and the report
// has the request that did it.
func TestTargetGoesAway(t *testing.T) {
	t.Parallel()
	var stop func()
	srv := newLoopback(requests(fetch+"abc ", func(*http.Request) {
		stop()
		panic(http.ErrAbortHandler)
	})(variant{}.handler()))
	stop = sync.OnceFunc(func() {
		srv.Listener.Close()
		go srv.CloseClientConnections()
	})
	defer srv.Close()
	r, err := conformance.Run(t.Context(), conformance.Target{URL: srv.URL + "/v1", Key: testKey}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || r.Counts.Fail > 0 || r.Counts.Errored < 10 || !strings.Contains(string(marshal(r.Last)), "/pets/abc") {
		t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	v := variant{http: requests(list+"limit=abc ", func(*http.Request) { cancel() })}
	r, err := conformance.Run(ctx, newServer(t, v), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Incomplete || r.Counts.Fail > 0 {
		t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
	}
}

// A request that gets no response though others do fails the target: one whose
// connection is dropped three times, and one that gets none in time twice.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	const null = create + `.*\r\n\r\nnull$`
	hangs := responses(null, 0, func(res *response) { <-res.request.Context().Done() })
	for _, tt := range []struct {
		name string
		http wrapper
		want conformance.Verdict
		says string
	}{
		{"dropped", where(null, drops), conformance.Fail, "closed without a response, and other requests get responses"},
		{"dropped once", nth(1, null, drops), conformance.Pass, ""},
		{"hangs", hangs, conformance.Fail, "2 requests get no response in time, and other requests do"},
		{"hangs once", nth(1, null, hangs), conformance.Pass, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http}, conformance.Options{Timeout: 4 * time.Second})
			if got := result(t, r, "http.response"); got.Verdict != tt.want || !strings.Contains(got.Message, tt.says) || (tt.want == conformance.Fail) != (r.Counts.Fail == 1) {
				t.Errorf("%s: %s, %s\n%s", r.Headline(), got.Verdict, got.Message, text(r))
			}
		})
	}
}

// A target that does not serve a request is asked again. If it never does, the run is
// incomplete, and no check fails.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	const bad = submit + `.*\r\n\r\n`
	anHour := func(status int) wrapper {
		return responses(create, 0, func(res *response) { res.status = status; res.header.Set("Retry-After", "3600") })
	}
	for _, tt := range []struct {
		name, run string
		http      wrapper
		want      conformance.Outcome
	}{
		{"new pets get 429 for an hour", "pets.create.status", anHour(429), conformance.Incomplete},
		{"new pets get 503 for an hour", "pets.create.status", anHour(503), conformance.Incomplete},
		{"new pets get 507", "pets.create.status", status(create, 0, 507), conformance.Incomplete},
		{"messages get 502", "messages.*", status(submit, 0, 502), conformance.Incomplete},
		{"messages get 503", "messages.*", status(submit, 0, 503), conformance.Incomplete},
		{"one message gets 503", "messages.400.body", nth(1, bad, status("", 0, 503)), conformance.Partial},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http}, conformance.Options{Run: []string{tt.run}})
			if r.Outcome != tt.want || r.Counts.Fail > 0 || (r.Counts.Errored > 0) != (tt.want == conformance.Incomplete) {
				t.Errorf("%s, %+v\n%s", r.Headline(), r.Counts, text(r))
			}
		})
	}
}

// Without a URL of the messages, that of the pets is tried.
func TestMessagesURL(t *testing.T) {
	t.Parallel()
	target := newServer(t, variant{})
	target.MessagesURL = ""
	none := newServer(t, variant{http: refuses(submit, 0, 404)})
	none.MessagesURL = ""
	for target, want := range map[conformance.Target]conformance.Outcome{target: conformance.Conformant, none: conformance.Partial} {
		r, err := conformance.Run(t.Context(), target, nil)
		if err != nil || r.Outcome != want {
			t.Errorf("%v, %v\n%s", want, err, text(r))
		}
	}
}

// One defect is one failure that is not the consequence of a more basic one.
func TestCauses(t *testing.T) {
	t.Parallel()
	onErrors := func(change func(*response)) wrapper {
		return responses("", 0, func(res *response) {
			if res.status >= 400 {
				change(res)
			}
		})
	}
	for _, tt := range []struct {
		name, first string // the first failure
		http        wrapper
		most        int // failures of their own
	}{
		{"errors are text", "errors.object", onErrors(func(res *response) {
			res.header.Set("Content-Type", "text/plain; charset=utf-8")
			res.body = http.StatusText(res.status)
		}), 1},
		{"ids are strings", "pets.list.pet", edit("", 0, `"id":(\d+)`, `"id":"$1"`), 3},
		{"everything is wrapped", "pets.create.pet", responses("", 0, func(res *response) { res.body = `{"data":` + res.body + `}` }), 7},
		{"every bad body gets 422", "pets.create.400.status", responses("", 400, func(res *response) { res.status, res.body = 422, failure(422) }), 7},
		{"no pet can be read", "pets.get.status", status(fetch, 200, 404), 1},
		{"names are in capitals", "pets.create.echo", changesNamesOf(strings.ToUpper), 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http}, conformance.Options{})
			var own []string
			for _, result := range r.Results {
				if result.Verdict == conformance.Fail && result.Cause == "" {
					own = append(own, result.ID)
				}
			}
			if len(own) == 0 || own[0] != tt.first || len(own) > tt.most {
				t.Errorf("failures of their own: %v, want at most %d, the first %s", own, tt.most, tt.first)
			}
			if out := text(r); strings.Count(out, "\n") > 40 {
				t.Errorf("%d lines:\n%s", strings.Count(out, "\n"), out)
			}
		})
	}
}

// changesNamesOf changes the names in every response with a pet.
func changesNamesOf(change func(string) string) wrapper { return texts("/v1/pets", 0, "name", change) }
