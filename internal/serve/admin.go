package serve

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/internal/request"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// adminHandler returns the handler of the admin address:
//
//	GET /metrics           what the server counts, in the text format of Prometheus
//	GET /messages?limit=N  the N oldest messages in the queue (default: 100), as a JSON array;
//	                       fewer once their texts reach 128 KiB
//	DELETE /messages/{id}  removes a message from the queue: 204, even if there is none
//	GET /healthz, /readyz  as at the main address, which may have no place for another connection
//
// It needs no key. Any client that reaches the address may do all of this. On a loopback
// address, the web pages of other sites may not.
func (s *server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.health)
	mux.HandleFunc("GET /messages", func(w http.ResponseWriter, r *http.Request) {
		if err := s.listMessages(w, r); err != nil {
			s.refuse(w, r, err)
		}
	})
	mux.HandleFunc("DELETE /messages/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := s.store.RemoveMessages(r.Context(), r.PathValue("id")); err != nil {
			s.refuse(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return noWebPages(mux, s.admin.loopback())
}

// refuse responds with err, and logs it unless the request is wrong.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	httpapi.WriteError(w, r, err)
	if petstore.CodeOf(err) != petstore.CodeInvalid {
		s.log.Error("request failed", "request_id", w.Header().Get("X-Request-ID"), "method", r.Method, "path", request.Path(r), "err", err)
	}
}

func (s *server) listMessages(w http.ResponseWriter, r *http.Request) (err error) {
	limit := 100
	if value := r.FormValue("limit"); value != "" {
		if limit, err = strconv.Atoi(value); err != nil {
			return petstore.Errorf(petstore.CodeInvalid, "limit: must be an integer from 1 to %d, got %q", petstore.MaxQueueLimit, value)
		}
	}
	messages, err := s.store.QueuedMessages(r.Context(), limit)
	if err != nil {
		return err
	}
	b, err := json.Marshal(messages) // encodes nil as an empty array
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(append(b, '\n'))
	}
	return err
}

// noWebPages refuses what a browser sends for a page of another site, since
// such a page would need no key either. It refuses every request that net/http's
// protection would refuse if it were a POST.
//
// A site can point its host name to the address of this machine. Its pages are
// then of the same site, but they send that name as the Host. So a loopback
// address accepts only localhost and IP addresses, but for /metrics, which Prometheus
// in a container requests by the name of its host. A client that sends no Host is not
// a browser.
func noWebPages(next http.Handler, loopback bool) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if loopback && r.URL.Path != "/metrics" && host != "" && !strings.EqualFold(host, "localhost") && net.ParseIP(host) == nil {
			http.Error(w, "Host: must be localhost or an IP address", http.StatusForbidden)
			return
		}
		post := &http.Request{Method: http.MethodPost, Header: r.Header, Host: r.Host, URL: r.URL}
		if err := protection.Check(post); err != nil {
			http.Error(w, err.Error()+"; to follow a link from another site, type the address into the browser", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
