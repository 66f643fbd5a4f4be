package ci

import (
	"strings"
	"testing"
)

// After a rename the old name is nowhere, and every import of every module is found.
func TestRename(t *testing.T) {
	dir := repository(t)
	old := strings.TrimSpace(run(t, dir, `awk '$1 == "module" { print $2 }' go.mod`))
	run(t, dir, ".ci/rename github.com/someone/zoo")
	run(t, dir, `! git grep -F "$1"`, old)
	run(t, dir, `for m in $(git ls-files '*go.mod'); do go -C "$(dirname "$m")" list -deps -test ./... >/dev/null; done`)
	run(t, dir, `go build ./cmd/... && go test ./petstore`)
}
