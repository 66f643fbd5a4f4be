package openapi

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// output is what a process has written so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) find(re *regexp.Regexp) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := re.FindSubmatch(o.b.Bytes()); m != nil {
		return string(m[1])
	}
	return ""
}

var (
	urlForm = regexp.MustCompile(`msg=serving url=(\S+)`)
	keyForm = regexp.MustCompile(`(petstore_[a-z2-7]{56})`)
)

// startServer runs the reference server with an empty store until the test is
// over.
func startServer(t *testing.T) (url, key string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "refserver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/refserver")
	build.Dir = rootModule(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out output
	cmd := exec.Command(program, "-addr=127.0.0.1:0")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if url, key = out.find(urlForm), out.find(keyForm); url != "" && key != "" {
			return url, key
		}
	}
	t.Fatalf("the server does not serve: %s", out.b.String())
	return "", ""
}
