package conformance_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
)

// Every statement of the contract has a required check, or says why it cannot
// be tested; what is open is only observed, and what only an RFC asks for is
// recommended.
func TestClauses(t *testing.T) {
	checks := map[string][]conformance.Check{}
	for _, c := range conformance.Checks() {
		checks[c.Clause] = append(checks[c.Clause], c)
	}
	seen := map[string]bool{}
	for _, cl := range conformance.Clauses() {
		if seen[cl.ID] || cl.ID == "" || cl.Section == "" || cl.Text == "" {
			t.Errorf("the clause %+v is there twice, or lacks something", cl)
		}
		seen[cl.ID] = true
		want := conformance.Required
		switch {
		case cl.Open:
			want = conformance.Observed
		case strings.HasPrefix(cl.Section, "RFC"):
			want = conformance.Recommended
		}
		if (cl.Untestable == "") != (len(checks[cl.ID]) > 0) {
			t.Errorf("the clause %q has %d checks, and is untestable because %q", cl.ID, len(checks[cl.ID]), cl.Untestable)
		}
		for _, c := range checks[cl.ID] {
			if c.Level != want {
				t.Errorf("%s rests on the clause %q and is %s, not %s", c.ID, cl.ID, c.Level, want)
			}
		}
		delete(checks, cl.ID)
	}
	for clause, list := range checks {
		t.Errorf("%s rests on the clause %q, which there is not", list[0].ID, clause)
	}

	// The sections of the contract that state anything.
	for _, section := range strings.Fields("1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 5 6 7 8 9") {
		if !slices.ContainsFunc(conformance.Clauses(), func(cl conformance.Clause) bool {
			return !cl.Open && slices.Contains(strings.Split(cl.Section, ", "), section)
		}) {
			t.Errorf("no clause is of section %s", section)
		}
	}
}

// An id is given once and for ever: a check that goes is marked as retired in
// the file of ids, and stays there.
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
			t.Errorf("two checks have the id %s", c.ID)
		case !ok:
			t.Errorf("%s is not in testdata/ids.txt: add it", c.ID)
		case retired:
			t.Errorf("%s is retired in testdata/ids.txt: give the check another id", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || c.Why == "" || c.Failure == "" || c.Feature == "" {
			t.Errorf("%s lacks a title, a reason, a failure or a feature", c.ID)
		}
	}
	for id, retired := range listed {
		if !retired && !seen[id] {
			t.Errorf("no check has the id %s: mark it as retired in testdata/ids.txt", id)
		}
	}
}
