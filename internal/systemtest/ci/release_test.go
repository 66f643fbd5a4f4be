package ci

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/animalstore/internal/process"
)

// run runs a script of bash in dir until it ends, and returns what it printed.
func run(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	args = append([]string{process.Tool(t, "bash"), "-euo", "pipefail", "-c", script, "bash"}, args...)
	out, err := process.Command(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// repository returns the folder of a new repository with one commit, which has the
// files of this one as they are now.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, root, `git ls-files -coz --exclude-standard | xargs -0 cp --parents -t "$1"`, dir)
	run(t, dir, `git init -q; git add .; git -c user.name=test -c user.email=test@example.org commit -qm test`)
	return dir
}

// Two builds of a release in different folders give the same bytes. Two of the six
// platforms stand for all: the others would take minutes.
func TestRelease(t *testing.T) {
	const build = `.ci/release "$1" ` + runtime.GOOS + "/" + runtime.GOARCH + " windows/amd64"
	first, second := repository(t), filepath.Join(t.TempDir(), "another folder")
	run(t, first, `git tag v0.1.0; git clone -q . "$1"`, second)
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	run(t, first, build, a)
	run(t, second, "export TZ=Asia/Tokyo; umask 077; "+build, b)
	run(t, a, `diff -r . "$1"`, b)

	run(t, a, `[[ $(sha256sum -c SHA256SUMS | wc -l) == 2 ]]`)
	name := "animalstore_v0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	out := run(t, a, `tar -xzf "$1.tar.gz"; "$1/refserver" version; "$1/conformance" version`, name)
	if !strings.HasPrefix(out, "refserver v0.1.0 ") || !strings.Contains(out, "\nconformance v0.1.0 ") {
		t.Errorf("the versions are %s", out)
	}
	run(t, a, `grep -q "go.etcd.io/bbolt" "$1/LICENSES"; ls "$1/LICENSE" "$1/README.md" "$1/docs/operations.md"`, name)

	run(t, first, `echo >>README.md; ! `+build, filepath.Join(t.TempDir(), "changed"))
}
