package conformance_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"example.com/animalstore/conformance"
)

// This server responds 200 to POST /pets, and is judged by the checks of the status.
func Example() {
	server := httptest.NewServer(variant{http: status(create, 201, 200)}.handler()) // yours
	defer server.Close()

	result, err := conformance.Run(context.Background(), conformance.Target{
		URL: server.URL + "/v1",
		Key: testKey,
	}, &conformance.Options{Select: []string{"pets.*.status"}})
	if err != nil {
		fmt.Println("the server cannot be judged:", err)
		return
	}
	fmt.Println(result.Conclusion)
	for _, r := range result.Results {
		if r.Verdict == conformance.Fail {
			fmt.Printf("%s: %s\n", r.ID, r.Message)
		}
	}
	// Output:
	// not conformant
	// pets.create.status: a valid pet is added: the response is 200 OK, want 201 Created
}
