package conformance_test

import (
	"context"
	"net/http"
	"slices"
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
	readOnly := conformance.Options{ReadOnly: true}
	v := variant{opts: readOnly, pets: filled(150), http: requests("", func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		methods[r.Method]++
	})}
	r := run(t, v)
	if r.Conclusion != conformance.Partial || r.Counts[conformance.Pass] < 30 || r.Left != "" {
		t.Errorf("%s\n%s", r.Headline(), text(r))
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

	lost := variant{opts: readOnly, pets: filled(10), http: refuses(fetch, 200, 404)}
	if r := run(t, lost); result(t, r, "pets.get.status").Verdict != conformance.Fail {
		t.Errorf("pets are listed and cannot be read: %s", r.Headline())
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	v := variant{opts: conformance.Options{Select: []string{"pets.list.limit.*", "auth.list"}, Skip: []string{"*.above"}},
		http: requests(create+`.*\\ud800","cat`, func(*http.Request) { t.Error("the unpaired surrogate is sent, though its check is not selected") })}
	r := run(t, v)
	var judged []string
	for _, result := range r.Results {
		if result.Verdict != conformance.Skip {
			judged = append(judged, result.ID)
		}
	}
	want := []string{"pets.list.limit.between", "pets.list.limit.default", "pets.list.limit.full", "auth.list"}
	if diff := cmp.Diff(want, judged); diff != "" {
		t.Errorf("what was judged (-want +got):\n%s", diff)
	}
	if n := len(conformance.Checks()); len(r.Results) != n || r.Requests < 500 {
		t.Errorf("the report has %d checks of %d, and the run sent %d requests", len(r.Results), n, r.Requests)
	}
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	lax := header(create, 201, "Location", "")
	const unserved = "while others were served, these requests were not: "
	busy := func(status int, op, retryAfter string) variant {
		return variant{http: responses(op, 0, func(res *response) {
			res.status, res.body = status, failure(status)
			res.header.Set("Retry-After", retryAfter)
		})}
	}
	for _, tt := range []struct {
		name       string
		v          variant
		conclusion conformance.Conclusion
		says       string // part of the report
	}{
		{"a failure that is left out", variant{http: status(create, 201, 200), opts: conformance.Options{Skip: []string{"pets.create.status*"}}}, conformance.Partial, "0 failed"},
		{"a warning", variant{http: lax}, conformance.Conformant, "1 with warnings"},
		{"a warning with level recommended", variant{http: lax, opts: conformance.Options{FailLevel: conformance.Recommended}}, conformance.NotConformant, "FAIL http.location"},
		{"nothing to judge by", variant{http: edit(list, 200, `.*`, `[]`), opts: conformance.Options{Select: []string{"pets.list.ids"}}}, conformance.NotJudged, "the run shows nothing that the checks judge"},

		{"new pets get 429 for an hour", busy(429, create, "3600"), conformance.NotJudged, unserved + "POST /pets, sent 1 time: 429 "},
		{"messages get 502", busy(502, submit, ""), conformance.NotJudged, unserved + "POST /messages, sent 3 times: 502 "},
		{"the first pets get 503, and categories must exist", variant{options: only(1), http: until(2, create, status("", 0, 503))}, conformance.Conformant, ""},
		{"another client adds a pet named cat", variant{pets: shared("cat")}, conformance.NotJudged, "the pet 10 with the name \"cat\""},
		{"a refused pet is stored without its name", variant{http: storesAs("")}, conformance.NotConformant, "FAIL pets.create.once"},
		{"a refused pet is stored with another name, and no key is needed", variant{http: all(storesAs("Unnamed"), requests(list, withKey))}, conformance.NotConformant, "FAIL auth.list"},
		{"503, 503 and a lost connection", variant{http: all(nth(3, create+`.*\r\n\r\nnull$`, drops), rejects(create+`.*\r\n\r\nnull$`, 503))}, conformance.NotJudged, "sent 3 times: the connection was closed without a response"},
		{"a firewall refuses one creation", variant{http: nth(2, create, firewall)}, conformance.NotConformant, "FAIL pets.create.status [section 1, 4.2]: a valid pet is added: the response is 403 Forbidden"},
		{"one body always gets 503, and a pet gets 200", variant{http: all(rejects(create+`.*\r\n\r\nnull$`, 503), status(create, 201, 200))}, conformance.NotConformant, unserved + "POST /pets with null as its body, sent 3 times: 503 "},
		{"the first POSTs get 429, and then 200 for a pet", variant{http: all(until(3, "^POST ", rejects("", 429)), status(create, 201, 200))}, conformance.NotConformant, "FAIL pets.create.status"},
		{"one message gets 503", variant{http: nth(5, submit, status("", 0, 503))}, conformance.Conformant, "the body of a 503 is not an Error"},
		{"every connection is dropped after a while", variant{http: since(time.Second, drops)}, conformance.NotJudged, ", sent 3 times: the connection was closed without a response (-parallel 1 finds out where)\ncurl -i "},
		{"another client adds a pet", variant{pets: shared("Fido")}, conformance.NotJudged, "which was not there before and which the run did not send"},
		{"every pet is refused", variant{options: only(42)}, conformance.NotJudged, "the target refuses every pet, the last with 400 Bad Request"},
		{"every pet of a category that the options name is refused", variant{options: only(42), opts: withCategory(7)}, conformance.NotConformant, "FAIL pets.create.status [section 1, 4.2]: a valid pet is added: the response is 400 Bad Request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.v)
			if out := text(r); r.Conclusion != tt.conclusion || !strings.Contains(out, tt.says) {
				t.Errorf("want %s, %q\n%s", tt.conclusion, tt.says, out)
			}
		})
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	v := variant{http: requests(list+"limit=abc ", func(*http.Request) { cancel() })}
	serve(t, v, func(t *testing.T, target conformance.Target, opts *conformance.Options) {
		if r, err := conformance.Run(ctx, target, opts); err != nil || r.Conclusion != conformance.NotJudged || r.Reason != "context canceled" {
			t.Errorf("%v\n%s", err, text(r))
		}
	})
}

// A request that gets no response though others do fails the target: one whose
// connection is dropped each time, and one that gets none in time.
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
		{"dropped", where(null, drops), conformance.Fail, ", sent 3 times: the connection was closed without a response"},
		{"the first POST and requests without a key are dropped", all(where(`^POST .*\r\n\r\n\{\}$`, drops), when(func(r *http.Request) bool { return r.Header.Get("Authorization") == "" }, drops)), conformance.Fail, ", sent 3 times: the connection was closed without a response"},
		{"hangs", hangs, conformance.Fail, "the request got no response, while others did: POST /pets with null as its body, sent 3 times: "},
		{"switches the protocol", where(null, raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")), conformance.Fail, ", sent 3 times: 101 Switching Protocols"},
		{"every bad body is dropped", where(create+`.*\r\n\r\n[^{]`, drops), conformance.Fail, ", sent 3 times: the connection was closed without a response"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http})
			if strings.Contains(tt.name, "every") && !strings.HasPrefix(r.Reason, "while others were served, these requests were not: POST /pets with ") {
				t.Errorf("the reason is %q", r.Reason)
			}
			if got := result(t, r, "http.response"); got.Verdict != tt.want || !strings.Contains(got.Message, tt.says) || (tt.want == conformance.Fail) != (r.Counts[conformance.Fail] == 1) {
				t.Errorf("%s: %s, %s\n%s", r.Headline(), got.Verdict, got.Message, text(r))
			}
		})
	}
}

// Without a URL of the messages, that of the pets is tried.
func TestMessagesURL(t *testing.T) {
	t.Parallel()
	unnamed := func(target *conformance.Target) { target.MessagesURL = "" }
	petsOnly := func(target *conformance.Target) { target.MessagesURL, target.PetsOnly = "", true }
	for _, tt := range []struct {
		v    variant
		want conformance.Conclusion
	}{
		{variant{target: unnamed}, conformance.Conformant},
		{variant{target: unnamed, http: refuses(submit, 0, 404)}, conformance.Partial},
		{variant{target: unnamed, http: refuses(submit, 0, 403)}, conformance.Partial}, // of a gateway
		{variant{target: petsOnly, http: requests(submit, func(*http.Request) { t.Error("a message is sent with PetsOnly") })}, conformance.Conformant},
	} {
		r := run(t, tt.v)
		if out := text(r); r.Conclusion != tt.want || r.Conclusion == conformance.Partial && !strings.Contains(out, "-pets-only") {
			t.Errorf("want %v\n%s", tt.want, out)
		}
	}
}

// The report of a defect that many requests meet is short, and begins with the response
// that is wrong, not with what follows from it.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, first string // the first failure
		says        string
		http        wrapper
	}{
		{"errors are text", "errors.object", "; seen in: a 400 for POST /pets; ", responses("", 0, func(res *response) {
			if res.status >= 400 {
				res.header.Set("Content-Type", "text/plain; charset=utf-8")
				res.body = http.StatusText(res.status)
			}
		})},
		{"ids are strings", "pets.create.pet", "id: is \"1\"", edit("", 0, `"id":(\d+)`, `"id":"$1"`)},
		{"no pet can be read", "pets.get.status", "\n  send this first (if its response has another id, use that one):\n  curl -i -H \"Authorization: Bearer $PETSTORE_API_KEY\" -H 'Content-Type: application/json' --data-binary ", status(fetch, 200, 404)},
		{"members in another case overwrite others", "pets.create.name", "the name is \"Name came after name and won\", want ", takes(create, `"name":"[^"]*"(.*),"Name":("[^"]*").*\}`, `"name":$2$1}`)},
		{"a list has Infinity far from its beginning", "pets.list.array", "from byte ", edit(list, 200, `"id":40,`, `"id":Infinity,`)},
		{"an empty list redirects", "pets.list.status", "a list is requested with a valid key: the response is 301 Moved Permanently, want 200 OK", responses(list, 200, func(res *response) {
			if res.body == "[]" {
				res.status, res.body = 301, ""
				res.header.Set("Location", "/v1/pets/")
			}
		})},
		{"nested arrays get 500", "errors.no-5xx", "--data-binary \"$(printf %6000s | tr ' ' '[')\"\"$(printf %6000s | tr ' ' ']')\" ", refuses(`^POST .*\[\[\[[\]\[]*$`, 400, 500)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, variant{http: tt.http})
			i := slices.IndexFunc(r.Results, func(result conformance.Result) bool { return result.Verdict == conformance.Fail })
			if out := text(r); i < 0 || r.Results[i].ID != tt.first || !strings.Contains(out, tt.says) || strings.Count(out, "\n") > 39 {
				t.Errorf("the first failure is not %s, or it does not say %q, or there are more than 39 lines:\n%s", tt.first, tt.says, out)
			}
		})
	}
}
