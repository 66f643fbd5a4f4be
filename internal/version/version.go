// Package version says what a command was built from.
package version

import "runtime/debug"

// String returns the version of the module, and that of Go. In a build from a clone, the
// former names the commit, and ends in "+dirty" if files were changed.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}
