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
)

var update = flag.Bool("update", false, "write the generated part of docs/conformance.md")

const (
	docsFile = "../docs/conformance.md"
	docsMark = "<!-- From here on generated: go test ./conformance -run TestDocs -update -->\n"
)

// The table of docs/conformance.md is what the code says.
func TestDocs(t *testing.T) {
	head, got, ok := strings.Cut(string(process.ReadFile(t, docsFile)), docsMark)
	if !ok {
		t.Fatalf("%s has no line %s", docsFile, docsMark)
	}
	want := generatedDocs()
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

func generatedDocs() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Beyond the contract\n\n")
	fmt.Fprintf(&b, "`conformance list -v` prints every clause. A violation of one of these is a warning:\n")
	fmt.Fprintf(&b, "\n| Section | Statement |\n|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Level() == conformance.Recommended {
			fmt.Fprintf(&b, "| %s | %s |\n", cl.Section, cl.Text)
		}
	}
	return b.String()
}
