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

// newHandler returns the handler under test. Replace it with your own. Its store must
// be new: the suite adds about a hundred pets, and the contract has no way to remove
// them.
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

// TestConformance runs every check as a subtest. To run only one:
//
//	go test -run TestConformance/pets.list.limit.above
func TestConformance(t *testing.T) {
	conformancetest.RunHandler(t, newHandler(t), "/v1", key, &conformance.Options{
		Level:   conformance.Recommended, // warnings fail too
		Timeout: time.Minute,             // for a busy machine
		// Set Category if the handler accepts only some categories, and Skip to the checks
		// of defects that you know.
	})
}
