package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
)

// Every statement of the contract either has checks or says why it cannot be
// tested.
func TestClauses(t *testing.T) {
	seen := map[string]bool{}
	for _, cl := range conformance.Clauses() {
		if seen[cl.ID] || cl.ID == "" || cl.Section == "" || cl.Text == "" {
			t.Errorf("the ID of clause %+v is not unique, or a field is missing", cl)
		}
		seen[cl.ID] = true
		if (cl.Untestable == "") != (len(cl.Checks) > 0) || (cl.Why == "") != (len(cl.Checks) == 0) {
			t.Errorf("the clause %q has %d checks, matters because %q, and is untestable because %q", cl.ID, len(cl.Checks), cl.Why, cl.Untestable)
		}
	}
	// The sections of the contract that state anything.
	for _, section := range strings.Fields("1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 5 6 7 8 9") {
		if !slices.ContainsFunc(conformance.Clauses(), func(cl conformance.Clause) bool {
			return slices.Contains(strings.Split(cl.Section, ", "), section)
		}) {
			t.Errorf("no clause is about section %s", section)
		}
	}
}

// The ID of a check never changes.
func TestIDsAreStable(t *testing.T) {
	want := strings.Fields(string(process.ReadFile(t, "testdata/ids.txt")))
	var got []string
	for _, c := range conformance.Checks() {
		got = append(got, c.ID)
		if c.Title == "" {
			t.Errorf("%s must have a title", c.ID)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the IDs in testdata/ids.txt (-), and those of the checks (+):\n%s", diff)
	}
}
