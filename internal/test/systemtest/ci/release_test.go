package ci

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/animalstore/internal/test/process"
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

// Two builds of a release in different folders give the same bytes. What is in the
// archive works where there is no Go.
func TestRelease(t *testing.T) {
	const platform = runtime.GOOS + "/" + runtime.GOARCH
	first, second := repository(t), filepath.Join(t.TempDir(), "another folder")
	run(t, first, `git tag v0.1.0; git clone -q . "$1"`, second)
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	run(t, first, `.ci/release "$1" windows/amd64 `+platform, a)
	run(t, second, `export TZ=Asia/Tokyo; umask 077; .ci/release "$1" `+platform, b)
	run(t, a, `[[ $(sha256sum -c SHA256SUMS | wc -l) == 2 ]]`)

	name := "animalstore_v0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	run(t, a, `cmp "$1.tar.gz" "$2/$1.tar.gz"; tar -xzf "$1.tar.gz"`, name, b)
	dir := filepath.Join(a, name)
	run(t, dir, `ls LICENSE README.md docs/operations.md deploy/refserver.service; grep -q go.etcd.io/bbolt LICENSES`)
	if out := run(t, dir, `env -i ./conformance version`); !strings.HasPrefix(out, "conformance v0.1.0 ") {
		t.Errorf("the version is %s", out)
	}
	server := process.Command(dir, filepath.Join(dir, "refserver"), "-addr=127.0.0.1:0")
	server.Env = []string{"PATH="}
	process.Serve(t, server).Must(201, "POST", "/pets", `{"name":"Rex","categoryId":4}`)

	run(t, first, `git tag -d v0.1.0; ! .ci/release "$1" `+platform, filepath.Join(t.TempDir(), "untagged"))
	run(t, first, `git tag v0.1.0; echo >>README.md; ! .ci/release "$1" `+platform, filepath.Join(t.TempDir(), "changed"))
}
