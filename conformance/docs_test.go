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
	required := 0
	for _, c := range checks {
		if c.Level == conformance.Required {
			required++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Clauses\n\n")
	fmt.Fprintf(&b, "There are %d checks: %d required and %d recommended. ", len(checks), required, len(checks)-required)
	fmt.Fprintf(&b, "Tests run them against %d servers that are each broken in one way, and against %d that are unusual but conform.\n", len(brokenServers()), len(unusualServers())+len(petstoretest.Difficulties()))
	fmt.Fprintf(&b, "\n| section | statement |\n|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Untestable == "" {
			fmt.Fprintf(&b, "| %s | %s |\n", cl.Section, cl.Text)
		}
	}
	return b.String()
}
