package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

// operations has a request for each operation.
var operations = map[string]string{
	"listPets":      get("/pets", "X-Request-ID: the-id"),
	"createPet":     post("/pets", rexBody, "X-Request-ID: the-id"),
	"getPet":        get("/pets/1", "X-Request-ID: the-id"),
	"submitMessage": post("/messages", `{"message":"m"}`, "X-Request-ID: the-id"),
}

func TestStoreErrors(t *testing.T) {
	secret := errors.New("open /var/lib/secret: input/output error")
	for _, c := range []struct {
		name string
		err  error
		want want
		logs string // level; "": nothing
	}{
		{"invalid", petstore.Errorf(petstore.CodeInvalid, "name: too rude"), bad("name: too rude"), ""},
		{"wrapped", fmt.Errorf("storing: %w", petstore.Errorf(petstore.CodeInvalid, "name: too rude")), bad("name: too rude"), ""},
		{"unauthorized", petstore.Errorf(petstore.CodeUnauthorized, "not yours"), want{status: 401, code: "unauthorized", says: "not yours"}, ""},
		{"not found", petstore.ErrNoPet, want{status: 404, code: "not_found", says: petstore.ErrNoPet.Message}, ""},
		{"conflict", petstore.Errorf(petstore.CodeConflict, "under way"), want{status: 409, code: "conflict", says: "under way"}, ""},
		{"mismatch", petstore.ErrMismatch, want{status: 422, code: "idempotency_mismatch", says: "used before"}, ""},
		{"full", &petstore.Error{Code: petstore.CodeFull, Message: "the disk is full", Err: secret}, want{status: 507, code: "insufficient_storage", says: "the disk is full"}, "WARN"},
		{"unavailable", &petstore.Error{Code: petstore.CodeUnavailable, Message: "closing", Err: secret}, want{status: 503, code: "unavailable", says: "closing"}, "WARN"},
		{"deadline", context.DeadlineExceeded, want{status: 503, code: "unavailable"}, "WARN"},
		{"store's own cancellation", context.Canceled, want{status: 503, code: "unavailable"}, "WARN"},
		{"internal", &petstore.Error{Code: petstore.CodeInternal, Message: "record 7 is damaged", Err: secret}, want{status: 500, code: "internal", says: "internal error"}, "ERROR"},
		{"no code", secret, want{status: 500, code: "internal", says: "internal error"}, "ERROR"},
		{"empty code", &petstore.Error{Message: "x", Err: secret}, want{status: 500, code: "internal", says: "internal error"}, "ERROR"},
		{"code not in the set", petstore.Errorf("teapot", "x"), want{status: 500, code: "internal", says: "internal error"}, "ERROR"},
		{"code of HTTP", petstore.Errorf(httpapi.CodeGone, "over"), want{status: 410, code: "gone", says: "over"}, ""},
		{"no message", &petstore.Error{Code: petstore.CodeFull, Err: secret}, want{status: 507, code: "insufficient_storage", says: "room"}, "WARN"},
		{"message not UTF-8", petstore.Errorf(petstore.CodeInvalid, "name: \xff<\n"), bad("name: \uFFFD<\n"), ""},
	} {
		for operation, raw := range operations {
			t.Run(c.name+", "+operation, func(t *testing.T) {
				s, log := newFaultyServer(t, func(context.Context) error { return c.err }, httpapi.Options{})
				a := send(t, s.addr, raw)
				if err := a.check(c.want); err != nil {
					t.Error(err)
				}
				if got := s.stats(t); got != (petstore.Stats{}) {
					t.Errorf("stored %+v", got)
				}
				if strings.Contains(a.body, "secret") {
					t.Errorf("details were sent: %s", a.body)
				}
				got := log.take()
				if c.logs == "" {
					if got != "" {
						t.Errorf("logged: %s", got)
					}
					return
				}
				for _, part := range []string{"level=" + c.logs, "request_id=the-id", "operation=" + operation, "principal=alice",
					"path=/", "code=" + c.want.code, fmt.Sprintf("status=%d", c.want.status)} {
					if !strings.Contains(got, part) {
						t.Errorf("log has no %q: %s", part, got)
					}
				}
				if errors.Is(c.err, secret) && !strings.Contains(got, "secret") {
					t.Errorf("log has no details: %s", got)
				}
				if strings.Contains(got, "key-1") || strings.Count(got, "\n") != 1 {
					t.Errorf("log: %s", got)
				}
			})
		}
	}
}

func TestPanics(t *testing.T) {
	internal := want{status: 500, code: "internal", says: "internal error", header: map[string]string{"X-Request-Id": "the-id"}}
	for _, v := range []any{"boom secret", errors.New("boom secret"), 42, (*petstore.Error)(nil)} {
		s, log := newFaultyServer(t, func(context.Context) error { panic(v) }, httpapi.Options{})
		for operation, raw := range operations {
			a := send(t, s.addr, raw)
			if err := a.check(internal); err != nil || strings.Contains(a.body, "secret") {
				t.Errorf("%v in %s: %v %s", v, operation, err, a.body)
			}
			got := log.take()
			for _, part := range []string{"level=ERROR", "request_id=the-id", "operation=" + operation, "stack=", "failure_test.go", fmt.Sprint(v)} {
				if !strings.Contains(got, part) {
					t.Errorf("%v in %s: log has no %q: %.300s", v, operation, part, got)
				}
			}
		}
		// The server goes on, even on the same connection.
		a := send(t, s.addr, get("/pets")+get("/nothing"))
		if a.status != 500 || !strings.Contains(a.rest, "404 Not Found") {
			t.Errorf("after a panic: %+v", a)
		}
	}
}

// TestAbort: a panic with http.ErrAbortHandler closes the connection.
func TestAbort(t *testing.T) {
	var seen recorder[httpapi.Observation]
	s, log := newFaultyServer(t, func(context.Context) error { panic(http.ErrAbortHandler) },
		httpapi.Options{Observe: func(_ context.Context, o httpapi.Observation) { seen.add(o) }})
	if got := receiveAll(t, s.addr, get("/pets")); got != "" {
		t.Errorf("response %q, want none", got)
	}
	if got := log.take(); got != "" {
		t.Errorf("logged: %s", got)
	}
	if got := seen.take(); len(got) != 1 || got[0].Status != 0 {
		t.Errorf("observed: %+v", got)
	}
}

// TestPanicWhileSending: part of a response must not look like all of it, so the
// connection is closed.
func TestPanicWhileSending(t *testing.T) {
	log := new(logBuffer)
	h := httpapi.New(memory.New(nil), testKeys, &httpapi.Options{Logger: newLogger(log)})
	addr := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&brokenWriter{ResponseWriter: w}, r)
	}))
	if got := receiveAll(t, addr, get("/pets")); got != "" {
		t.Errorf("response %q, want none", got)
	}
	if got := log.take(); !strings.Contains(got, "broken writer") {
		t.Errorf("log: %s", got)
	}
}

// brokenWriter panics on its first write.
type brokenWriter struct {
	http.ResponseWriter
	broke bool
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if !w.broke {
		w.broke = true
		panic("broken writer")
	}
	return w.ResponseWriter.Write(p)
}

// receiveAll sends raw and returns all that comes back until the server closes
// the connection.
func receiveAll(t *testing.T, addr, raw string) string {
	t.Helper()
	conn, br := dial(t, addr)
	_, _ = io.WriteString(conn, raw)
	b, _ := io.ReadAll(br)
	return string(b)
}
