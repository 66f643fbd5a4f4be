package systemtest

import (
	"flag"
	"os"
	"testing"

	_ "example.com/animalstore/conformance"    // so that a changed program makes go test run again
	_ "example.com/animalstore/internal/serve" // as above
	"example.com/animalstore/internal/test/process"
)

const refserver = "example.com/animalstore/cmd/refserver"

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // the parallel tests spend their time waiting
	os.Exit(process.Main(m))
}

// startServer starts a reference server with an empty store.
func startServer(t *testing.T, flags ...string) *process.Server {
	t.Helper()
	return process.Serve(t, process.Command(t.TempDir(), append([]string{process.Build(t, refserver), "-addr=127.0.0.1:0"}, flags...)...))
}

// startTool starts a program that ends with the test, and waits until it is ready.
func startTool(t *testing.T, cmd []string, ready func(p *process.Process) bool) *process.Process {
	t.Helper()
	p, err := process.Start(process.Command(t.TempDir(), cmd...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := p.Until(cmd[0]+" is ready", func() bool { return ready(p) }); err != nil {
		t.Fatal(err)
	}
	return p
}
