package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
)

var update = flag.Bool("update", false, "write the generated part of docs/conformance.md anew")

const (
	docsFile = "../docs/conformance.md"
	docsMark = "<!-- From here on generated: go test ./conformance -run TestDocs -update -->\n"
)

// The document's tables are what the code says and what the kill test finds.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, got, ok := strings.Cut(string(b), docsMark)
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
		t.Errorf("%s is stale; go test ./conformance -run TestDocs -update writes it anew (-want +got):\n%s", docsFile, diff)
	}
}

func generatedDocs(t *testing.T) string {
	t.Helper()
	killed, err := kills()
	if err != nil {
		t.Fatal(err)
	}
	checks := conformance.Checks()
	levels := map[conformance.Level]int{}
	for _, c := range checks {
		levels[c.Level]++
	}
	caught := 0
	for _, k := range killed {
		if len(k.caught) > 0 {
			caught++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## The suite, judged\n\n")
	fmt.Fprintf(&b, "| | |\n|---|---|\n")
	fmt.Fprintf(&b, "| checks | %d: %d required, %d recommended, %d observed |\n", len(checks), levels[conformance.Required], levels[conformance.Recommended], levels[conformance.Observed])
	fmt.Fprintf(&b, "| broken servers, each broken in one way | %d, of which a check of the broken clause catches %d |\n", len(killed), caught)
	fmt.Fprintf(&b, "| conformant but unusual servers, none of which may fail a check | %d |\n", len(unusualServers()))
	fmt.Fprintf(&b, "\n## Clause, checks, broken servers caught\n")
	for _, part := range []struct {
		title string
		is    func(conformance.Clause) bool
	}{
		{"The contract", func(cl conformance.Clause) bool { return !isRFC(cl) && !cl.Open && cl.Untestable == "" }},
		{"HTTP and the RFCs", isRFC},
	} {
		fmt.Fprintf(&b, "\n### %s\n", part.title)
		for _, cl := range conformance.Clauses() {
			if part.is(cl) {
				clauseDocs(&b, cl, checks, killed)
			}
		}
	}
	fmt.Fprintf(&b, "\n### Stated, and not to be seen from outside\n\n| section | statement | why it is not tested |\n|---|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Untestable != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cl.Section, cl.Text, cl.Untestable)
		}
	}
	fmt.Fprintf(&b, "\n### Left open by the contract: recorded, not judged\n\n| section | what is open | check |\n|---|---|---|\n")
	for _, cl := range conformance.Clauses() {
		if cl.Open {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cl.Section, cl.Text, "`"+strings.Join(ofClause(cl.ID), "`, `")+"`")
		}
	}
	fmt.Fprintf(&b, "\n## The unusual servers\n\nEach uses a liberty that the contract leaves; none fails a check.\n\n")
	for _, v := range unusualServers() {
		fmt.Fprintf(&b, "- %s\n", v.name)
	}
	return b.String()
}

func isRFC(cl conformance.Clause) bool { return strings.HasPrefix(cl.Section, "RFC") }

// clauseDocs writes a clause, its checks and what each of them caught.
func clauseDocs(b *strings.Builder, cl conformance.Clause, checks []conformance.Check, killed []kill) {
	fmt.Fprintf(b, "\n**%s** %s\n\n", cl.Section, cl.Text)
	for _, c := range checks {
		if c.Clause != cl.ID {
			continue
		}
		var names []string
		for _, k := range killed {
			if slices.Contains(k.caught, c.ID) {
				names = append(names, k.name)
			}
		}
		fmt.Fprintf(b, "- `%s` %s. Caught: %s.\n", c.ID, c.Title, strings.Join(names, "; "))
	}
}
