package conformance_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"example.com/animalstore/conformance"
)

// A server that answers a creation with 200 is judged by the two checks that
// look at statuses.
func Example() {
	server := httptest.NewServer(variant{http: status(create, 201, 200)}.handler()) // yours
	defer server.Close()

	report, err := conformance.Run(context.Background(), conformance.Target{
		URL: server.URL + "/v1",
		Key: testKey,
	}, &conformance.Options{Run: []string{"pets.*.status"}})
	if err != nil {
		fmt.Println("it cannot be judged:", err)
		return
	}
	fmt.Println(report.Headline())
	for _, r := range report.Results {
		if r.Verdict == conformance.Fail {
			fmt.Printf("%s: %s\n", r.ID, r.Message)
		}
	}
	// Output:
	// not conformant: 1 check failed
	// pets.create.status: a valid pet is added: the answer is 200 OK, not 201
}
