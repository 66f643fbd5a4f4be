// Package version says what a command was built from.
package version

import (
	"runtime/debug"
	"strings"
)

// String returns the module's version, which ends in "+dirty" if files were
// changed, the revision if the version does not name it, and Go's version.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown origin"
	}
	parts := []string{info.Main.Version}
	if parts[0] == "" {
		parts[0] = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(parts[0], s.Value[:min(12, len(s.Value))]) {
			parts = append(parts, s.Value)
		}
	}
	return strings.Join(append(parts, info.GoVersion), " ")
}
