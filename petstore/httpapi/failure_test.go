package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// wantLog fails unless one line with these parts was logged, or none without
// parts, and none with a credential.
func (s *server) wantLog(parts ...string) {
	s.Helper()
	lines := s.log.take()
	got := strings.Join(lines, "")
	for _, part := range parts {
		if !strings.Contains(got, part) {
			s.Errorf("log has no %q: %.500s", part, got)
		}
	}
	if len(lines) != min(len(parts), 1) || strings.Contains(got, "key-1") {
		s.Errorf("%d log lines: %.500s", len(lines), got)
	}
}

func TestStoreErrors(t *testing.T) {
	secret := errors.New("open /var/lib/secret: input/output error")
	for _, c := range []struct {
		err    error
		want   want
		logged bool
	}{
		{petstore.Errorf(petstore.CodeInvalid, "name: too rude"), bad("name: too rude"), false},
		{fmt.Errorf("storing: %w", petstore.Errorf(petstore.CodeInvalid, "name: too rude")), bad("name: too rude"), false},
		{petstore.Errorf(petstore.CodeUnauthorized, "not yours"), refused(401, "not yours"), false},
		{petstore.ErrNotFound, refused(404, petstore.ErrNotFound.Message), false},
		{petstore.Errorf(petstore.CodeConflict, "under way"), refused(409, "under way"), false},
		{petstore.ErrIdempotencyMismatch, refused(422, "used before"), false},
		{&petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "the disk is full", Err: secret}, refused(507, "the disk is full"), true},
		{&petstore.Error{Code: petstore.CodeUnavailable, Message: "lost", Err: secret}, refused(503, "lost"), true},
		{petstore.ErrQueueFull, refused(503, "full"), false},
		{context.DeadlineExceeded, refused(503, ""), false},
		{context.Canceled, refused(503, ""), false}, // not the client's
		{&petstore.Error{Code: petstore.CodeInternal, Message: "record 7 is damaged", Err: secret}, internal, true},
		{secret, internal, true},
		{&petstore.Error{Message: "x", Err: secret}, internal, true},
		{petstore.Errorf("teapot", "x"), internal, true},
		{&petstore.Error{Code: petstore.CodeInsufficientStorage}, refused(507, "Insufficient"), true},
		{petstore.Errorf(petstore.CodeInvalid, "name: \xff<\n"), bad("name: \uFFFD<\n"), false},
	} {
		s := newFaultyServer(t, func(context.Context) error { return c.err })
		for operation, raw := range operations {
			s.want(c.want, raw)
			if !c.logged {
				s.wantLog()
				continue
			}
			parts := []string{"level=ERROR", "request_id=the-id", "operation=" + operation, "account=alice",
				"path=/", "code=" + codes[c.want.status], fmt.Sprintf("status=%d", c.want.status)}
			if errors.Is(c.err, secret) {
				parts = append(parts, "secret")
			}
			s.wantLog(parts...)
		}
	}
}

func TestPanics(t *testing.T) {
	for _, v := range []any{"boom secret", errors.New("boom secret"), 42, (*petstore.Error)(nil)} {
		s := newFaultyServer(t, func(context.Context) error { panic(v) })
		for operation, raw := range operations {
			s.want(internal.with("X-Request-Id", "the-id"), raw)
			s.wantLog("level=ERROR", "request_id=the-id", "operation="+operation, "panic: ", "failure_test.go", fmt.Sprint(v))
		}
	}
}

// TestAbort: the handler makes net/http close the connection if the service asks for it,
// or if part of a response was sent, which must not look like all of it.
func TestAbort(t *testing.T) {
	for status, panics := range map[int]any{0: http.ErrAbortHandler, 200: nil} {
		s := newFaultyServer(t, func(context.Context) error {
			if panics != nil {
				panic(panics)
			}
			return nil
		})
		func() {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("panic %v, want http.ErrAbortHandler", v)
				}
			}()
			h := s.h
			send(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(brokenWriter{w}, r) }), get("/pets"))
		}()
		if panics == nil {
			s.wantLog("broken writer")
		} else {
			s.wantLog()
		}
		if got := s.seen.take(); len(got) != 1 || got[0].Status != status {
			t.Errorf("observed: %+v", got)
		}
	}
}

// brokenWriter panics on a write.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { panic("broken writer") }

// TestBadResults: an invalid result of the service is a 500, and no part of it is
// sent.
func TestBadResults(t *testing.T) {
	s := newServer(t, nil)
	s.h = s.handler(spoiled(), testKeys, nil)
	s.want(internal.with("Location", "").with("Link", ""), get("/pets"), post("/pets", rexBody), post("/messages", messageBody))
	s.want(internal, get("/pets/1"))
}

func TestValidate(t *testing.T) {
	s := newServer(t, &httpapi.Options{
		Validate: func(_ context.Context, p petstore.NewPet) error {
			switch p.Name {
			case "":
				return petstore.Errorf(petstore.CodeInvalid, "name: must not be empty")
			case "rude":
				return fmt.Errorf("rule 7: %w", petstore.Errorf(petstore.CodeConflict, "name: taken"))
			case "broken":
				return errors.New("secret: no dictionary")
			}
			return nil
		},
	})
	pet := func(name string) string { return `{"name":"` + name + `","categoryId":1}` }
	s.want(created, post("/pets", pet("rex")))
	s.want(bad("name: must not be empty"), post("/pets", pet("")))
	s.want(refused(409, "name: taken"), post("/pets", pet("rude")))
	s.want(bad("categoryId: is missing"), post("/pets", `{"name":""}`)) // the contract's rules come first
	s.wantLog()
	s.want(internal, post("/pets", pet("broken")))
	s.wantLog("no dictionary")
}
