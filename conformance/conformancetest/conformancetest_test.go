package conformancetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// newScratch copies the module in testdata/scratch to a temporary folder outside
// this module, and returns the folder.
func newScratch(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the test builds a module")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/scratch")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.sum": string(sums),
		"go.mod": "module scratch\n\ngo 1.26\n\nrequire example.com/animalstore v0.0.0\n\nreplace example.com/animalstore => " + root + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUsersModule(t *testing.T) {
	dir := newScratch(t)
	// The module needs nothing that this one does not need.
	build := process.Command(dir, "go", "test", "-c", "-o", "scratch.test")
	build.Env = append(build.Env, "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	if code, stdout, stderr := process.Run(t, build); code != 0 {
		t.Fatalf("go test -c: exit code %d\n%s%s", code, stdout, stderr)
	}
	run := func(largest string, args ...string) (code int, stdout string) {
		cmd := process.Command(dir, append([]string{"./scratch.test", "-test.v"}, args...)...)
		cmd.Env = append(cmd.Env, "SCRATCH_LARGEST="+largest)
		code, stdout, _ = process.Run(t, cmd)
		return code, stdout
	}
	if code, out := run("100"); code != 0 {
		t.Fatalf("a conformant store: exit code %d\n%s", code, out)
	}
	code, out := run("99", "-test.run=TestConformance/pets.list.limit.max$")
	if code == 0 {
		t.Errorf("a store with lists of at most 99 pets passes\n%s", out)
	}
	for _, want := range []string{
		"--- FAIL: TestConformance/pets.list.limit.max",
		"the list has 99 pets, want 100",
		"The largest limit is 100.",
		"curl -i",
		"GET http://127.0.0.1:",
		"HTTP/1.1 200 OK",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output does not have %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "scratch-key") {
		t.Errorf("the output has the key:\n%s", out)
	}
	if n := strings.Count(out, "--- "); n != 2 {
		t.Errorf("-run selects %d tests, want the one and its parent:\n%s", n, out)
	}
	if code, out := run("99", "-test.skip=TestConformance/pets.list.limit.max"); code != 0 {
		t.Errorf("without the failing check: exit code %d\n%s", code, out)
	}
}
