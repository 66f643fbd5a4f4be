package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
)

// wantLog fails unless one line with these parts was logged, or none without
// parts, and none with a credential.
func (s *server) wantLog(parts ...string) {
	s.Helper()
	lines := s.log
	s.log = nil
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

// TestStoreErrors: the code of an error decides the response. What the client does not see is
// logged, once.
func TestStoreErrors(t *testing.T) {
	secret := errors.New("open /var/lib/secret: input/output error")
	for _, c := range []struct {
		fault any // an error, or what the service panics with
		want  want
		logs  string // part of the log line; "": none is logged
	}{
		{fmt.Errorf("storing: %w", petstore.Errorf(petstore.CodeInvalid, "name: too rude")), bad("name: too rude"), ""},
		{petstore.Errorf(petstore.CodeInvalid, "name: \xff<\n"), bad("name: \uFFFD<\n"), ""},
		{petstore.Errorf(petstore.CodeUnauthorized, "not yours"), refused(401, "not yours"), ""},
		{petstore.ErrNotFound, refused(404, petstore.ErrNotFound.Message), ""},
		{petstore.Errorf(petstore.CodeConflict, "under way"), refused(409, "under way"), ""},
		{petstore.ErrIdempotencyMismatch, refused(422, "used before"), ""},
		{&petstore.Error{Code: petstore.CodeInsufficientStorage, Message: "the disk is full", Err: secret}, refused(507, "the disk is full"), "secret"},
		{&petstore.Error{Code: petstore.CodeInsufficientStorage}, refused(507, "Insufficient"), "insufficient_storage"},
		{&petstore.Error{Code: petstore.CodeUnavailable, Message: "lost", Err: secret}, refused(503, "lost"), "secret"},
		{&petstore.Error{Code: petstore.CodeUnavailable, Message: "lost", Err: context.Canceled}, refused(503, "lost"), "canceled"}, // not by the client
		{petstore.ErrQueueFull, refused(503, "full"), ""},
		{context.DeadlineExceeded, refused(503, ""), ""},
		{&petstore.Error{Code: petstore.CodeInternal, Message: "record 7 is damaged", Err: secret}, internal, "secret"},
		{secret, internal, "secret"},
		{petstore.Errorf("teapot", "x"), internal, "err=x"},
		{"boom secret", internal, `panic: boom secret\ngoroutine `},
	} {
		s := newFaultyServer(t, func(context.Context) error {
			if err, ok := c.fault.(error); ok {
				return err
			}
			panic(c.fault)
		})
		for operation, raw := range operations {
			s.want(c.want.with("X-Request-Id", "the-id"), raw)
			if c.logs == "" {
				s.wantLog()
				continue
			}
			path, _, _ := strings.Cut(strings.Fields(raw)[1], "?") // a query may be secret
			s.wantLog(c.logs, "level=ERROR", "request_id=the-id", "operation="+operation, "account=alice",
				"path="+path+" ", "code="+codes[c.want.status], fmt.Sprintf("status=%d", c.want.status))
		}
	}
}

// TestAbort: the handler makes net/http close the connection if the service asks for it,
// or if part of a response was sent, which must not look like all of it.
func TestAbort(t *testing.T) {
	for status, fault := range map[int]func(){0: func() { panic(http.ErrAbortHandler) }, 200: func() {}} {
		s := newFaultyServer(t, func(context.Context) error { fault(); return nil })
		func() {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("panic %v, want http.ErrAbortHandler", v)
				}
			}()
			s.h.ServeHTTP(brokenWriter{httptest.NewRecorder()}, httptest.NewRequestWithContext(httpapi.WithAccount(t.Context(), "alice"), "GET", "/pets", nil))
		}()
		if len(s.seen) != 1 || s.seen[0].Status != status {
			t.Errorf("observed: %+v", s.seen)
		}
		s.wantLog(map[int][]string{200: {"broken writer"}}[status]...)
	}
}

// brokenWriter panics on a write.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { panic("broken writer") }

// TestBadResults: an invalid result of the service is a 500, and no part of it is
// sent.
func TestBadResults(t *testing.T) {
	s := newServer(t, nil)
	pet := petstore.Pet{ID: 1, NewPet: petstore.NewPet{Name: "\xff"}}
	service := stub(nil)
	service.DoListPets = func(context.Context, petstore.ListQuery) (petstore.Page, error) {
		return petstore.Page{Pets: []petstore.Pet{{ID: 1}, pet}, Next: "x"}, nil
	}
	service.DoCreatePet = func(context.Context, petstore.NewPet, petstore.IdempotencyKey) (petstore.Pet, error) { return pet, nil }
	service.DoGetPet = func(context.Context, int64) (petstore.Pet, error) { return pet, nil }
	service.DoSubmitMessage = func(context.Context, string, petstore.IdempotencyKey) (petstore.Message, error) {
		return petstore.Message{Text: "\xff"}, nil
	}
	s.h = s.handler(service, testKeys, nil)
	s.want(internal.with("Location", "").with("Link", ""), get("/pets"), post("/pets", rexBody), post("/messages", messageBody))
	s.want(internal, get("/pets/1"))
}
