// Package suite runs the conformance suite inside go test.
package suite

import (
	"context"
	"net/http"
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/petstore"
	"example.com/animalstore/petstore/httpapi"
	"example.com/animalstore/petstore/storage/memory"
)

const key = "a-key-for-tests"

// newHandler returns the handler under test: put your own here. Its store is new,
// since the suite adds about a hundred pets, and the contract has no way to
// remove them.
func newHandler(t *testing.T) http.Handler {
	store := memory.New(nil)
	auth := httpapi.AuthenticatorFunc(func(_ context.Context, given string) (string, error) {
		if given != key {
			return "", petstore.Errorf(petstore.CodeUnauthorized, "unknown API key")
		}
		return "tester", nil
	})
	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", httpapi.New(store, auth, &httpapi.Options{Messages: store})))
	return mux
}

// Every check is a subtest:
//
//	go test -run TestConformance/pets.list.limit.max
func TestConformance(t *testing.T) {
	target := conformance.Target{URL: "/v1", MessagesURL: "/v1", Key: key}
	conformancetest.RunHandler(t, newHandler, target, &conformance.Options{
		Level:   conformance.Recommended, // warnings fail too
		Timeout: time.Minute,             // for a busy machine
		// Category, if the handler accepts only some; Known, for checks that fail
		// and may, each with the reason.
	})
}
