package serve

import (
	"fmt"
	"runtime/debug"
	"strings"
)

func (p *Program) versionCommand() Command {
	return Command{
		Name:  "version",
		About: "print what the program was built from (-version does too)",
		Run: func(c *Call) error {
			if len(c.Args) > 0 {
				return usagef("unexpected argument %q", c.Args[0])
			}
			_, err := fmt.Fprintln(c.Stdout, p.Name, version())
			return err
		},
	}
}

// version returns the module's version, which ends in "+dirty" if files were
// changed, the revision where it is known, and Go's version.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown origin"
	}
	parts := []string{info.Main.Version}
	if parts[0] == "" {
		parts[0] = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			parts = append(parts, s.Value)
		}
	}
	return strings.Join(append(parts, info.GoVersion), " ")
}
