package httpapi_test

import (
	"testing"
	"time"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/conformancetest"
	"example.com/animalstore/internal/test/testserver"
)

// TestConformance: the handler does what the contract and the RFCs say, with each of the
// suite's bodies, credentials, media types, paths and queries. The other tests of this
// package show what the suite does not send, and what it leaves open.
func TestConformance(t *testing.T) {
	conformancetest.RunHandler(t, testserver.New(0), "/v1", testserver.Key, &conformance.Options{
		FailLevel: conformance.Recommended,
		Timeout:   5 * time.Minute, // the machine may be busy
	})
}
