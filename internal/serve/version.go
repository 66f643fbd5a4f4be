package serve

import (
	"fmt"

	"example.com/animalstore/internal/version"
)

func (p *Program) versionCommand() Command {
	return Command{
		Name:  "version",
		About: "print what the program was built from (-version does too)",
		Run: func(c *Call) error {
			if len(c.Args) > 0 {
				return usagef("unexpected argument %q", c.Args[0])
			}
			_, err := fmt.Fprintln(c.Stdout, p.Name, version.String())
			return err
		},
	}
}
