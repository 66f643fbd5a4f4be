package main

import (
	"fmt"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

func listCommand() flags.Command {
	return flags.Command{
		Name:  "list",
		About: "list the checks: ID, level, section of the contract, title",
		Run: func(c *flags.Call) error {
			text := fmt.Sprintf("%-42s %-12s %-20s %s\n", "CHECK", "LEVEL", "SECTION", "WHAT THE TARGET MUST DO")
			for _, check := range conformance.Checks() {
				text += fmt.Sprintf("%-42s %-12s %-20s %s\n", check.ID, check.Level, check.Section, check.Title)
			}
			_, err := fmt.Fprint(c.Stdout, text)
			return err
		},
	}
}
