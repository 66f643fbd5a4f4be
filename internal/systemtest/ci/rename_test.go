package ci

import (
	"strings"
	"testing"
)

// After a rename the old name is nowhere, and every module can be built.
func TestRename(t *testing.T) {
	dir := repository(t)
	old := strings.TrimSpace(run(t, dir, `awk '$1 == "module" { print $2 }' go.mod`))
	run(t, dir, ".ci/rename github.com/someone/zoo")
	run(t, dir, `! git grep -F "$1"`, old)
	run(t, dir, `for m in $(git ls-files '*go.mod'); do go -C "$(dirname "$m")" vet ./...; done`)
	run(t, dir, `go build ./...; go test ./petstore ./petstore/httpapi`)
}
