package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
	"example.com/animalstore/petstore/petstoretest"
)

var update = flag.Bool("update", false, "write the generated part of docs/conformance.md")

const (
	docsFile = "../docs/conformance.md"
	docsMark = "<!-- From here on generated: go test ./conformance -run TestDocs -update -->\n"
)

// The tables of docs/conformance.md are what the code says.
func TestDocs(t *testing.T) {
	head, got, ok := strings.Cut(string(process.ReadFile(t, docsFile)), docsMark)
	if !ok {
		t.Fatalf("%s has no line %s", docsFile, docsMark)
	}
	want := generatedDocs(t)
	if *update {
		if err := os.WriteFile(docsFile, []byte(head+docsMark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is stale; go test ./conformance -run TestDocs -update writes it (-want +got):\n%s", docsFile, diff)
	}
}

func generatedDocs(t *testing.T) string {
	t.Helper()
	checks := conformance.Checks()
	levels := map[conformance.Level]int{}
	for _, c := range checks {
		levels[c.Level]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Clauses\n\n")
	fmt.Fprintf(&b, "There are %d checks: %d required, %d recommended and %d observed.\n", len(checks), levels[conformance.Required], levels[conformance.Recommended], levels[conformance.Observed])
	fmt.Fprintf(&b, "The suite's own tests run them against %d servers that are each broken in one way: on each of them a check of the broken clause fails. They also run them against %d conformant but unusual servers, on which no check fails.\n", len(brokenServers()), len(unusualServers())+len(petstoretest.Difficulties()))
	fmt.Fprintf(&b, "\n| section | statement | checks |\n|---|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if !cl.Open && cl.Untestable == "" {
			fmt.Fprintf(&b, "| %s | %s | %d |\n", cl.Section, cl.Text, len(cl.Checks))
		}
	}
	fmt.Fprintf(&b, "\n### Stated, but not visible from outside\n\n| section | statement | why it is not tested |\n|---|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Untestable != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cl.Section, cl.Text, cl.Untestable)
		}
	}
	fmt.Fprintf(&b, "\n### Left open by the contract: recorded, not judged\n\n| section | what is open | checks |\n|---|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Open {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cl.Section, cl.Text, "`"+strings.Join(idsOf(cl), "`, `")+"`")
		}
	}
	return b.String()
}
