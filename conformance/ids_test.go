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
		if c.Section == "" || c.Level != conformance.Required && c.Level != conformance.Recommended {
			t.Errorf("a field of the check is missing: %+v", c)
		}
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
