package main

import (
	"flag"
	"fmt"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

func listCommand() flags.Command {
	var verbose bool
	return flags.Command{
		Name:  "list",
		About: "list the checks: ID, level, section of the contract, title",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&verbose, "v", false, "also print why each check matters")
		},
		Run: func(c *flags.Call) error {
			if _, err := fmt.Fprintf(c.Stdout, "%-42s %-12s %-20s %s\n", "CHECK", "LEVEL", "SECTION", "WHAT THE TARGET MUST DO"); err != nil {
				return err
			}
			for _, check := range conformance.Checks() {
				line := fmt.Sprintf("%-42s %-12s %-20s %s\n", check.ID, check.Level, check.Section, check.Title)
				if verbose {
					line += fmt.Sprintf("  why: %s\n", check.Why)
				}
				if _, err := fmt.Fprint(c.Stdout, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
