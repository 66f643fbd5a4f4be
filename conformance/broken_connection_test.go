package conformance_test

import (
	"net/http"
	"sync"

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
	return all(refuse, responses(op, of, func(res *response) {
		if res.sent != "" && !res.request.Close {
			spoiled.Store(res.request.RemoteAddr, true)
		}
	}))
}

func brokenConnections() []variant {
	broken := func(name string, w wrapper) variant { // a transport of its own keeps connections, however slow the machine is
		return variant{name: name, clause: "list", http: w, opts: conformance.Options{Transport: &http.Transport{}}}
	}
	return []variant{
		broken("the body of a 401 is left unread", unread(create, 401)),
		broken("the body of a 400 is left unread", unread(create, 400)),
		broken("the body of a message without a type is left unread", unread(submit+`[^{]*\r\n\r\n`, 400)),
	}
}
