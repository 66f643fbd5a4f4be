package conformance_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
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
		if (cl.Untestable == "") != (len(cl.Checks) > 0) {
			t.Errorf("the clause %q has %d checks, and is untestable because %q", cl.ID, len(cl.Checks), cl.Untestable)
		}
	}
	// The sections of the contract that state anything.
	for _, section := range strings.Fields("1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 5 6 7 8 9") {
		if !slices.ContainsFunc(conformance.Clauses(), func(cl conformance.Clause) bool {
			return !cl.Open && slices.Contains(strings.Split(cl.Section, ", "), section)
		}) {
			t.Errorf("no clause is about section %s", section)
		}
	}
}

// The ID of a check never changes. A check that is removed is marked as retired
// in the file of IDs.
func TestIDsAreStable(t *testing.T) {
	f, err := os.Open("testdata/ids.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	listed := map[string]bool{} // and whether it is retired
	for sc := bufio.NewScanner(f); sc.Scan(); {
		id, retired := strings.CutSuffix(sc.Text(), " retired")
		if id != "" && !strings.HasPrefix(id, "#") {
			listed[id] = retired
		}
	}
	seen := map[string]bool{}
	for _, c := range conformance.Checks() {
		retired, ok := listed[c.ID]
		switch {
		case seen[c.ID]:
			t.Errorf("two checks have the ID %s", c.ID)
		case !ok:
			t.Errorf("%s is not in testdata/ids.txt: add it", c.ID)
		case retired:
			t.Errorf("%s is retired in testdata/ids.txt: use another ID", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || c.Why == "" || c.Failure == "" {
			t.Errorf("%s must have a title, a reason and a failure", c.ID)
		}
	}
	for id, retired := range listed {
		if !retired && !seen[id] {
			t.Errorf("no check has the ID %s: mark it as retired in testdata/ids.txt", id)
		}
	}
}
