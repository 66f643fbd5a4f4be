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
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

func Example() {
	// Package apikey has an Authenticator that keeps the keys in a file. The time of a plain
	// comparison would reveal how much of a guessed key is right. Every key of an account
	// leads to the same account, so a client with a new key can still repeat a creation.
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, key string) (string, error) {
		if sha256.Sum256([]byte(key)) != sha256.Sum256([]byte("a-secret-key")) {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "this API key is unknown")
		}
		return "alice", nil
	})
	// The shop sells only cats and dogs. The result depends only on the pet: the function is
	// called again when a client repeats a creation, which must not be refused.
	validate := func(_ context.Context, p petstore.NewPet) error {
		if p.CategoryID < 1 || p.CategoryID > 2 {
			return petstore.Errorf(petstore.CodeInvalid, "categoryId: must be 1 (cats) or 2 (dogs), got %d", p.CategoryID)
		}
		return nil
	}
	store := memory.New(nil)

	mux := http.NewServeMux()
	handler := httpapi.New(store, auth, &httpapi.Options{Messages: store, Validate: validate})
	mux.Handle("/v1/", http.StripPrefix("/v1", handler))

	for _, body := range []string{`{"name":"Rex","categoryId":1,"status":"available"}`, `{"name":"Tom","categoryId":3}`} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/pets", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer a-secret-key")
		r.Header.Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r) // in a program: an http.Server, with timeouts
		fmt.Println(w.Code, w.Header()["Location"], w.Body)
	}
	// Output:
	// 201 [pets/1] {"id":1,"name":"Rex","categoryId":1,"status":"available"}
	// 400 [] {"code":"invalid","message":"categoryId: must be 1 (cats) or 2 (dogs), got 3","status":400}
}

// A middleware says for whom a request acts. It responds with [httpapi.WriteError] if it
// refuses a request: the contract wants an Error body for its 401, and http.Error would send
// plain text. If it only verifies bearer tokens, an [httpapi.Authenticator] is simpler.
func ExampleWithAccount() {
	verify := func(token string) (account string, ok bool) { // in a program: of a JWT package
		return "alice", token == "signed-for-alice"
	}
	handler := httpapi.New(memory.New(nil), nil, nil) // needs no Authenticator
	authenticated := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		account, ok := verify(token)
		if !ok || !strings.EqualFold(scheme, "Bearer") { // which is case-insensitive
			httpapi.WriteError(w, r, petstore.Errorf(petstore.CodeUnauthorized, "Authorization: a valid bearer token is required"))
			return
		}
		handler.ServeHTTP(w, r.WithContext(httpapi.WithAccount(r.Context(), account)))
	})
	for _, field := range []string{"bearer signed-for-alice", "signed-for-alice"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/pets", nil)
		r.Header.Set("Authorization", field)
		authenticated.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header()["Www-Authenticate"], w.Body)
	}
	// Output:
	// 200 [] []
	// 401 [Bearer realm="petstore"] {"code":"unauthorized","message":"Authorization: a valid bearer token is required","status":401}
}

// Messages can have a base address of their own, such as https://messages.example. The
// contract describes them so (section 4.4).
func Example_messages() {
	keys := apikey.Static{"a-secret-key": "alice"}
	store := memory.New(nil)
	pets := httpapi.New(store, keys, nil) // without messages
	messages := httpapi.New(nil, keys, &httpapi.Options{Messages: store})
	for _, handler := range []http.Handler{pets, messages} { // in a program: each in an http.Server
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/messages", strings.NewReader(`{"message":"Feed Rex"}`))
		r.Header.Set("Authorization", "Bearer a-secret-key")
		r.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 404
	// 202
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
