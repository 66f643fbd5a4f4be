package httpapi_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func Example() {
	// Package apikey has an Authenticator that keeps the keys in a file.
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		if sha256.Sum256([]byte(key)) != sha256.Sum256([]byte("a-secret-key")) {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
		}
		return "alice", nil
	})
	store := memory.New(nil)

	mux := http.NewServeMux()
	handler := httpapi.New(store, auth, &httpapi.Options{Messages: store})
	mux.Handle("/v1/", http.StripPrefix("/v1", handler))

	for _, body := range []string{`{"name":"Rex","categoryId":1,"status":"available"}`, `{"name":"Tom","categoryId":"cats"}`} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/pets", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer a-secret-key")
		r.Header.Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r) // in a program: an http.Server, with timeouts
		fmt.Println(w.Code, w.Header()["Location"], w.Body)
	}
	// Output:
	// 201 [pets/1] {"id":1,"name":"Rex","categoryId":1,"status":"available"}
	// 400 [] {"code":"invalid","message":"categoryId: must be a 64-bit integer, without fraction or exponent, got \"cats\"","status":400}
}

// A middleware that has authenticated the request says for whom it acts.
func ExampleWithPrincipal() {
	handler := httpapi.New(memory.New(nil), nil, nil)
	authenticated := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := map[string]string{"secret": "alice"}[r.Header.Get("X-Api-Key")] // or from a session, a certificate and so on
		if user == "" {
			w.Header().Set("WWW-Authenticate", "X-Api-Key") // for the 401
		}
		handler.ServeHTTP(w, r.WithContext(httpapi.WithPrincipal(r.Context(), user)))
	})
	for _, key := range []string{"secret", "wrong"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/pets", nil)
		r.Header.Set("X-Api-Key", key)
		authenticated.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header()["Www-Authenticate"], w.Body)
	}
	// Output:
	// 200 [] []
	// 401 [X-Api-Key] {"code":"unauthorized","message":"a credential is required","status":401}
}

// TestREADME: the Go code of the README is part of examples/nethttp.
func TestREADME(t *testing.T) {
	example, err := os.ReadFile("../../examples/nethttp/main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(readme), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	if !found || !strings.Contains(strings.ReplaceAll(string(example), "\n\t", "\n"), code) {
		t.Errorf("README.md must show a part of examples/nethttp/main.go, and has:\n%s", code)
	}
}
