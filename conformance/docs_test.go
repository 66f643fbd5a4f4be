package conformance_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/test/process"
)

// steady replaces what differs from run to run.
func steady(s string) string {
	for _, r := range []struct{ pattern, with string }{
		{` \(messages: \S+\)`, ""},
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
		{"../README.md", variant{opts: conformance.Options{Parallel: 1}}},
		{"../docs/conformance.md", variant{http: status(create, 201, 200), opts: conformance.Options{Parallel: 1}}},
	} {
		t.Run(strings.TrimPrefix(tt.file, "../"), func(t *testing.T) {
			t.Parallel()
			b := process.ReadFile(t, tt.file)
			out := text(run(t, tt.v))
			if !strings.Contains(steady(string(b)), "\n"+steady(out)+"```\n") {
				t.Errorf("%s does not show what a run prints:\n%s", tt.file, out)
			}
		})
	}
}
