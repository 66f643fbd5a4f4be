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
	"example.com/animalstore/petstore/storage/memory"
)

// TestAuthenticatorFails: only a refusal is a 401. No error lets a request in.
func TestAuthenticatorFails(t *testing.T) {
	refused := want{status: 401, code: "unauthorized", says: "expired",
		header: map[string]string{"Www-Authenticate": `Bearer realm="petstore", error="invalid_token"`}}
	failed := want{status: 503, code: "unavailable", says: "credential", header: map[string]string{"Retry-After": "1"}}
	expired := petstore.Errorf(petstore.CodeUnauthorized, "this API key has expired")
	for _, c := range []struct {
		name string
		err  error
		want want
	}{
		{"refused", expired, refused},
		{"refused, wrapped", fmt.Errorf("checking: %w", expired), refused},
		{"refused, no words", &petstore.Error{Code: petstore.CodeUnauthorized}, want{status: 401, code: "unauthorized", says: "API key"}},
		{"plain error", errors.New("secret: database is down"), failed},
		{"unavailable", petstore.Errorf(petstore.CodeUnavailable, "secret"), failed},
		{"not found", petstore.Errorf(petstore.CodeNotFound, "secret"), failed},
		{"invalid", petstore.Errorf(petstore.CodeInvalid, "secret"), failed},
		{"internal", petstore.Errorf(petstore.CodeInternal, "secret"), failed},
		{"empty code", &petstore.Error{Message: "secret"}, failed},
		{"timed out", context.DeadlineExceeded, failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			auth := httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { return "alice", c.err })
			for operation, raw := range operations {
				log := new(logBuffer)
				store := memory.New(nil)
				s := &server{t, store, listen(t, newHandler(store, auth, &httpapi.Options{Logger: newLogger(log)}))}
				s.run([]rawCase{{operation, raw, c.want}})
				got := log.take()
				if logged := strings.Contains(got, "request failed"); logged != (c.want.status >= 500) || strings.Contains(got, "key-1") {
					t.Errorf("log: %q", got)
				}
			}
		})
	}
	t.Run("panics", func(t *testing.T) {
		auth := httpapi.AuthenticatorFunc(func(context.Context, string) (string, error) { panic("boom") })
		addr := listen(t, newHandler(memory.New(nil), auth, nil))
		if err := send(t, addr, get("/pets")).check(want{status: 500, code: "internal"}); err != nil {
			t.Error(err)
		}
	})
}

// TestPrincipal: the contexts of service, hook and observer have the principal.
func TestPrincipal(t *testing.T) {
	var seen recorder[string]
	note := func(ctx context.Context) { seen.add(httpapi.Principal(ctx)) }
	type outer struct{}
	s, _ := newFaultyServer(t, func(ctx context.Context) error {
		note(ctx)
		if ctx.Value(http.ServerContextKey) == nil || ctx.Value(outer{}) != nil || ctx.Err() != nil || ctx.Done() == nil {
			t.Errorf("not the request's context: %v", ctx)
		}
		return nil
	}, httpapi.Options{
		Validate: func(ctx context.Context, _ petstore.NewPet) error { note(ctx); return nil },
		Observe:  func(ctx context.Context, _ httpapi.Observation) { note(ctx) },
	})
	send(t, s.addr, post("/pets", rexBody))
	send(t, s.addr, request("GET /pets", "Authorization: Bearer key-3"))
	send(t, s.addr, request("GET /pets"))
	if got, want := fmt.Sprint(seen.take()), "[alice alice alice bob bob ]"; got != want {
		t.Errorf("principals %s, want %s", got, want)
	}
	if p := httpapi.Principal(context.Background()); p != "" {
		t.Errorf("principal of no request: %q", p)
	}
}

func TestValidate(t *testing.T) {
	s, log := newFaultyServer(t, func(context.Context) error { return nil }, httpapi.Options{
		Validate: func(ctx context.Context, p petstore.NewPet) error {
			switch {
			case p.Name == "":
				return petstore.Errorf(petstore.CodeInvalid, "name: must not be empty")
			case p.Name == "rude" && httpapi.Principal(ctx) == "alice":
				return fmt.Errorf("rule 7: %w", petstore.Errorf(petstore.CodeConflict, "name: taken"))
			case p.Name == "broken":
				return errors.New("secret: no dictionary")
			case p.Name == "panic":
				panic("boom")
			}
			return nil
		},
	})
	pet := func(name string) string { return `{"name":"` + name + `","categoryId":1}` }
	s.run([]rawCase{
		{"accepted", post("/pets", pet("rex")), want{status: 201}},
		{"refused", post("/pets", pet("")), bad("name: must not be empty")},
		{"refused with another code", post("/pets", pet("rude")), want{status: 409, code: "conflict", says: "name: taken"}},
		{"by principal", postBare("/pets", pet("rude"), isJSON, "Authorization: Bearer key-3"), want{status: 201}},
		{"fails", post("/pets", pet("broken")), want{status: 500, code: "internal", says: "internal error"}},
		{"panics", post("/pets", pet("panic")), want{status: 500, code: "internal", says: "internal error"}},
		{"after the contract's rules", post("/pets", `{"name":""}`), bad("categoryId: is missing")},
	})
	if got := log.take(); !strings.Contains(got, "no dictionary") {
		t.Errorf("log: %s", got)
	}
}

// TestRequired: New and NewMessages panic without what they need.
func TestRequired(t *testing.T) {
	for name, f := range map[string]func(){
		"no service":                 func() { httpapi.New(nil, testKeys, nil) },
		"no authenticator":           func() { httpapi.New(memory.New(nil), nil, nil) },
		"no queue":                   func() { httpapi.NewMessages(nil, testKeys, nil) },
		"messages, no authenticator": func() { httpapi.NewMessages(memory.New(nil), nil, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
