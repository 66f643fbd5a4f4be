package conformance_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/animalstore/conformance"
)

// unread leaves the body of a request unread if the response has that status, and
// takes it for the next request on the connection.
func unread(op string, of int) wrapper {
	var spoiled sync.Map // by client address
	refuse := where("", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := spoiled.LoadAndDelete(r.RemoteAddr); ok {
				w.Header().Set("Connection", "close")
				http.Error(w, "unknown method", http.StatusNotImplemented)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	return both(refuse, responses(op, of, func(res *response) {
		if res.sent != "" && !res.request.Close {
			spoiled.Store(res.request.RemoteAddr, true)
		}
	}))
}

func brokenConnections() []variant {
	broken := func(name string, http wrapper) variant {
		return variant{name: name, clause: "list", http: http, opts: keptConnections()}
	}
	return []variant{
		broken("the body of a 401 is left unread", unread(create, 401)),
		broken("the body of a 401 for a message is left unread", unread(submit, 401)),
		broken("the body of a 400 is left unread", unread(create, 400)),
		broken("the body of a message without a type is left unread", unread(submit+`[^{]*\r\n\r\n`, 400)),
	}
}

// keptConnections are options for a test that needs connections to be used again,
// however slow the machine is.
func keptConnections() conformance.Options {
	return conformance.Options{Transport: &http.Transport{}}
}

// A target that leaves bodies unread has one failure, and all else is judged.
func TestUnread(t *testing.T) {
	for _, v := range brokenConnections() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, v, v.opts)
			got := result(t, r, "http.connection.reuse")
			if got.Verdict != conformance.Fail || r.Counts.Fail != 1 || r.Counts.Pass != len(r.Results)-1 {
				t.Errorf("%s\n%s", r.Headline(), text(r))
			}
			if curl := got.Exchanges[got.Proof].Curl; strings.Count(curl, " --next -i ") != 1 {
				t.Errorf("the curl command is not that of two requests: %s", curl)
			}
		})
	}
}
