package conformance_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/process"
)

// Every check says what it is about, and every section of the contract that states what
// requests show has checks.
func TestSections(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range conformance.Checks() {
		if c.Section == "" || c.Title == "" || (c.Level != conformance.Required && c.Level != conformance.Recommended) {
			t.Errorf("a field of the check is missing: %+v", c)
		}
		for _, section := range strings.Split(c.Section, ", ") {
			seen[section] = true
		}
	}
	for _, section := range strings.Fields("1 2.1 2.2 2.3 2.4 2.5 2.7 3.1 3.2 4 4.1 4.2 4.3 4.4 5 7 8 9") {
		if !seen[section] {
			t.Errorf("no check is about section %s", section)
		}
	}
}

var update = flag.Bool("update", false, "write the files of testdata")

// retired are the IDs of checks that are gone. No check gets one of them again.
var retired = []string{
	"errors.json",
	"errors.unavailable",
	"http.complete",
	"http.connection.reuse",
	"messages.text.accepted",
	"pets.create.category.accepted",
	"pets.create.echo",
	"pets.create.id.listed",
	"pets.create.name.accepted",
	"pets.create.same-name",
	"pets.create.same-name.accepted",
	"pets.create.status.default",
	"pets.create.unauthorized",
	"pets.list.filter.all",
	"pets.list.late",
	"pets.list.limit.filtered",
	"pets.list.limit.spelling",
}

// No check loses its ID, and the IDs and titles are those of the file.
func TestIDs(t *testing.T) {
	const file = "testdata/checks.txt"
	old := string(process.ReadFile(t, file))
	var lines []string
	for _, c := range conformance.Checks() {
		lines = append(lines, c.ID+": "+c.Title+"\n")
		if slices.Contains(retired, c.ID) {
			t.Errorf("the ID %s was that of another check", c.ID)
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	for line := range strings.Lines(old) {
		if id, _, _ := strings.Cut(line, ":"); !strings.Contains("\n"+got, "\n"+id+": ") && !slices.Contains(retired, id) {
			t.Errorf("no check has the ID %s any more", id)
		}
	}
	if *update {
		process.WriteFile(t, file, []byte(got))
	} else if diff := cmp.Diff(old, got); diff != "" {
		t.Errorf("%s; go test ./conformance -run TestIDs -update writes it (-want +got):\n%s", file, diff)
	}
}
