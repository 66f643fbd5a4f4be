package httpapi_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

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

	server := httptest.NewServer(mux) // in a program: http.Server, with timeouts
	defer server.Close()

	show(server.URL+"/v1/pets", `{"name":"Rex","categoryId":1,"status":"available"}`)
	show(server.URL+"/v1/pets", `{"name":"Tom","categoryId":"cats"}`)
	// Output:
	// 201 Created [pets/1]
	// {"id":1,"name":"Rex","categoryId":1,"status":"available"}
	// 400 Bad Request []
	// {"code":"invalid","message":"categoryId: must be a 64-bit integer, without fraction or exponent, got \"cats\"","status":400}
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

// show sends a body with the key, and prints the response.
func show(url, body string) {
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer a-secret-key")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n%s\n", resp.Status, resp.Header["Location"], got)
}
