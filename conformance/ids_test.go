package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
)

// Every clause has checks.
func TestClauses(t *testing.T) {
	seen := map[string]bool{}
	for _, cl := range conformance.Clauses() {
		if seen[cl.ID] || cl.ID == "" || cl.Section == "" || cl.Text == "" {
			t.Errorf("the ID of clause %+v is not unique, or a field is missing", cl)
		}
		seen[cl.ID] = true
		if len(cl.Checks) == 0 || cl.Why == "" {
			t.Errorf("the clause %q has %d checks, and matters because %q", cl.ID, len(cl.Checks), cl.Why)
		}
	}
	// The sections of the contract that state what requests show.
	for _, section := range strings.Fields("1 2.1 2.2 2.3 2.4 2.5 2.7 3.1 3.2 4 4.1 4.2 4.3 4.4 5 7 8 9") {
		if !slices.ContainsFunc(conformance.Clauses(), func(cl conformance.Clause) bool {
			return slices.Contains(strings.Split(cl.Section, ", "), section)
		}) {
			t.Errorf("no clause is about section %s", section)
		}
	}
}

// No check loses its ID, and the IDs and titles are those of the file.
func TestIDs(t *testing.T) {
	const file = "testdata/checks.txt"
	old := string(process.ReadFile(t, file))
	var lines []string
	for _, c := range conformance.Checks() {
		lines = append(lines, c.ID+": "+c.Title+"\n")
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	for line := range strings.Lines(old) {
		if id, _, _ := strings.Cut(line, ":"); !strings.Contains("\n"+got, "\n"+id+": ") {
			t.Errorf("no check has the ID %s any more", id)
		}
	}
	if *update {
		process.WriteFile(t, file, []byte(got))
	} else if diff := cmp.Diff(old, got); diff != "" {
		t.Errorf("%s; go test ./conformance -run TestIDs -update writes it (-want +got):\n%s", file, diff)
	}
}
