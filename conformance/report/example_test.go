package report_test

import (
	"fmt"
	"os"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/report"
)

// The reports are usually from [conformance.Run] or [report.Read].
func ExampleCompare() {
	status := conformance.Check{ID: "pets.create.status", Clause: "create", Level: conformance.Required}
	before := &conformance.Report{
		URL: "http://127.0.0.1:8080/v1", Outcome: conformance.Conformant, Level: conformance.Required,
		Counts:  conformance.Counts{Pass: 1},
		Results: []conformance.Result{{Check: status, Verdict: conformance.Pass, Proof: -1}},
	}
	after := &conformance.Report{
		URL: "http://127.0.0.1:8081/v1", Outcome: conformance.NotConformant, Level: conformance.Required,
		Counts:  conformance.Counts{Fail: 1},
		Results: []conformance.Result{{Check: status, Verdict: conformance.Fail, Message: "the response is 200 OK, want 201", Proof: -1}},
	}
	c := report.Compare(before, after)
	fmt.Println(len(c.Worse), "worse")
	if err := c.Write(os.Stdout, report.Text); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 worse
	// worse in B:
	//   pets.create.status: pass -> fail
	//     the response is 200 OK, want 201
	//
	// A: http://127.0.0.1:8080/v1: conformant: 1 check: 1 passed, 0 failed
	// B: http://127.0.0.1:8081/v1: not conformant: 1 check: 0 passed, 1 failed
	// worse: 1 check worse in B, 0 better, 0 with another verdict; 0 other observations
}
