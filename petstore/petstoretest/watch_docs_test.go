package petstoretest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocs: the tables of docs/clients.md contain every difficulty and every rule.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, d := range Difficulties() {
		want = append(want, d.Name+": "+d.About)
	}
	for _, r := range rules {
		want = append(want, r.name+": "+map[proof]string{certain: "yes", doubtful: "no"}[r.proof])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (.*?) \\|").FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[1]+": "+strings.TrimSuffix(m[2], ", see below"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/clients.md (-want +got):\n%s", diff)
	}
}
