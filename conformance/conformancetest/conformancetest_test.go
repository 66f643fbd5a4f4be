package conformancetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// goTest runs go test in a module and returns what it prints.
func goTest(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"test", "-count=1"}, args...)...)
	cmd.Dir = dir
	// The module needs nothing that this one does not need.
	cmd.Env = append(os.Environ(), append(env, "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestUsersModule(t *testing.T) {
	dir := newScratch(t)
	if out, err := goTest(t, dir, nil, "."); err != nil {
		t.Fatalf("a conformant store: %v\n%s", err, out)
	}

	broken := []string{"SCRATCH_LARGEST=99"}
	out, err := goTest(t, dir, broken, "-run", "TestConformance/pets.list.limit.max$", ".")
	if err == nil {
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

	if out, err := goTest(t, dir, broken, "-skip", "TestConformance/pets.list.limit.max", "."); err != nil {
		t.Errorf("without the failing check: %v\n%s", err, out)
	}
}
