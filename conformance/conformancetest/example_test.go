package conformancetest_test

import (
	"net/http"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
)

// A test of an implementation under /v1 that has no messages.
func Example() {
	newHandler := func(*testing.T) http.Handler {
		return http.NotFoundHandler() // yours
	}
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		conformancetest.RunHandler(t, newHandler, conformance.Target{URL: "/v1", Key: "a-secret-key"}, nil)
	}
}
