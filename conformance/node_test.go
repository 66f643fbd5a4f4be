package conformance_test

import (
	"strings"
	"testing"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/process"
)

// TestNode judges an implementation in another language, which is in
// testdata/node-server. It has another order of lists, ids beyond 2^53, and
// chunked responses with white space.
func TestNode(t *testing.T) {
	const key = "node-test-4Jw8sTqPzYk"
	p, err := process.Start(process.Command("", process.Tool(t, "node"), "testdata/node-server/server.mjs", key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := p.Until("it prints its URL", func() bool { return strings.HasSuffix(p.Stdout.String(), "\n") }); err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(p.Stdout.String())
	r, err := conformance.Run(t.Context(), conformance.Target{URL: url, MessagesURL: url, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != conformance.Conformant || r.Counts.Warn > 0 || r.Counts.Inconclusive > 0 {
		t.Errorf("%s\n%s", r.Headline(), text(r))
	}
}
