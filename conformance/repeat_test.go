package conformance_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/animalstore/conformance"
)

// A failure is repeated, and the result says when the check fails.
func TestRepeated(t *testing.T) {
	// A body with an array is accepted for the first n of the run, or when the
	// function returns true.
	const array = create + `.*\r\n\r\n\[\{`
	accepts := func(n int, when func(*response) bool) wrapper {
		var sent atomic.Int64
		return responses(array, 400, func(res *response) {
			if sent.Add(1) <= int64(n) || when(res) {
				res.status = 201
			}
		})
	}
	never := func(*response) bool { return false }

	var used sync.Map // addresses of clients
	reused := where("", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, again := used.LoadOrStore(r.RemoteAddr, true); again && !r.Close {
				r.Header.Set("Reused", "true")
			}
			next.ServeHTTP(w, r)
		})
	})

	var once sync.Once
	writes := make(chan struct{})
	writing := requests(create+".*writer-", func(*http.Request) { once.Do(func() { close(writes) }) })

	for _, tt := range []struct {
		name string
		http wrapper
		want string
	}{
		{"always", accepts(9, never), "always"},
		{"twice", accepts(2, never), "sometimes, 2 of 4"},
		{"once", accepts(1, never), "sometimes, 1 of 7"},
		{"on a reused connection", both(reused, accepts(0, func(res *response) bool { return res.request.Header.Get("Reused") != "" })),
			"only on a reused connection"},
		{"while others write", both(writing, accepts(1, func(res *response) bool {
			busy := strings.Contains(res.sent, "again-busy-")
			if busy {
				<-writes
			}
			return busy
		})), "only while others write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := keptConnections()
			opts.Run = []string{"pets.create.400.body.array"}
			r := runAndRepeat(t, variant{http: tt.http}, opts, patience)
			got := result(t, r, "pets.create.400.body.array")
			if got.Verdict != conformance.Fail || got.Repeated != tt.want {
				t.Errorf("%s, %q, want %q\n%s", got.Verdict, got.Repeated, tt.want, text(r))
			}
			curl := got.Exchanges[got.Proof].Curl
			if strings.Contains(curl, "--next") != (tt.want == "only on a reused connection") {
				t.Errorf("the curl command: %s", curl)
			}
			if repeated := "repeated: " + tt.want; strings.HasSuffix(curl, " # "+repeated) != (tt.want != "always") ||
				strings.Contains(text(r), "\n  "+repeated+"\n") != (tt.want != "always") {
				t.Errorf("the text does not say that it is %s:\n%s", repeated, text(r))
			}
		})
	}
}

// Checks of the record and of the start of the run are repeated too, or say that
// they cannot be.
func TestRepeatedRecord(t *testing.T) {
	for _, tt := range []struct {
		http        wrapper
		check, want string
	}{
		{edit(list+".*limit=20", 200, `^.*$`, "{}"), "pets.list.array", "always"},
		{edit(list+".*pending", 200, `^\[\]`, "null"), "pets.list.empty", "not possible"},
	} {
		r := runAndRepeat(t, variant{http: tt.http}, conformance.Options{Run: []string{tt.check}}, patience)
		if got := result(t, r, tt.check); got.Verdict != conformance.Fail || got.Repeated != tt.want {
			t.Errorf("%s: %s, %q, want %q", tt.check, got.Verdict, got.Repeated, tt.want)
		}
	}
}

// Of many failures a few are repeated, and few pets are left behind.
func TestRepeatedFew(t *testing.T) {
	r := runAndRepeat(t, variant{http: status(create, 400, 500)}, conformance.Options{}, patience)
	repeated := 0
	for _, result := range r.Results {
		if result.Repeated != "" {
			repeated++
		}
	}
	if r.Counts.Fail < 30 || repeated != 20 || len(r.Left.Pets) > 300 {
		t.Errorf("%d failures, %d repeated, %d pets left behind", r.Counts.Fail, repeated, len(r.Left.Pets))
	}
}
