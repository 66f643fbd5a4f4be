package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
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
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Beyond the contract\n\n")
	fmt.Fprintf(&b, "`conformance list -v` prints every check. What fails one of these gets a warning:\n")
	fmt.Fprintf(&b, "\n| Section | Check | What the target should do |\n|---|---|---|\n")
	for _, c := range checks(t) {
		if c.Level == conformance.Recommended {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", c.Section, c.ID, c.Title)
		}
	}
	return b.String()
}

// steady replaces what differs from run to run.
func steady(s string) string {
	for _, r := range []struct{ pattern, with string }{
		{`127\.0\.0\.1:\d+`, "127.0.0.1:8080"},
		{`Conf[a-z]{6}([a-z]{3})?`, "Confabcdef"},
		{`\d+ requests, \d+\.\d s`, "900 requests, 1.2 s"},
		{`\(\d+ of \d+\)`, "(1 of 2)"},
		{`"categoryId":\d+`, `"categoryId":1`},
		{`Date: .*`, "Date: now"},
		{`X-Request-Id: .*`, "X-Request-Id: made"},
	} {
		s = regexp.MustCompile(r.pattern).ReplaceAllString(s, r.with)
	}
	return s
}

// The documents show what a run prints.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		v    variant
	}{
		{"../README.md", variant{}},
		{docsFile, variant{http: status(create, 201, 200)}},
	} {
		t.Run(strings.TrimPrefix(tt.file, "../"), func(t *testing.T) {
			t.Parallel()
			b := process.ReadFile(t, tt.file)
			out := text(run(t, tt.v, conformance.Options{Parallel: 1}))
			if !strings.Contains(steady(string(b)), "\n"+steady(out)+"```\n") {
				t.Errorf("%s does not show what a run prints:\n%s", tt.file, out)
			}
		})
	}
}
