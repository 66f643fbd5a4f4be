package main

import (
	"flag"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
	"example.com/animalstore/internal/flags"
)

// listed is a check with its clause.
type listed struct {
	conformance.Check
	Section   string `json:"section"`
	Statement string `json:"statement"`
	Why       string `json:"why"`
}

func listCommand() flags.Command {
	var asJSON, verbose bool
	var selected selection
	return flags.Command{
		Name:  "list",
		About: "list the checks: ID, level, section of the contract, title",
		Flags: func(fs *flag.FlagSet) {
			fs.BoolVar(&asJSON, "json", false, "print JSON: an array of objects")
			fs.BoolVar(&verbose, "v", false, "also print why each check matters, and its clause")
			selected.define(fs)
		},
		Run: func(c *flags.Call) error {
			checks, err := conformance.Select(split(selected.run), split(selected.skip))
			if err != nil {
				return flags.Usagef("%v", err)
			}
			var all []listed
			for _, check := range checks {
				clause, _ := conformance.FindClause(check.Clause)
				all = append(all, listed{check, clause.Section, clause.Text, clause.Why})
			}
			if asJSON {
				b, err := json.Marshal(all, jsontext.WithIndent("  "))
				if err == nil {
					_, err = fmt.Fprintf(c.Stdout, "%s\n", b)
				}
				return err
			}
			if _, err := fmt.Fprintf(c.Stdout, "%-42s %-12s %-20s %s\n", "CHECK", "LEVEL", "SECTION", "WHAT THE TARGET MUST DO"); err != nil {
				return err
			}
			for _, l := range all {
				line := fmt.Sprintf("%-42s %-12s %-20s %s\n", l.ID, l.Level, l.Section, l.Title)
				if verbose {
					line += fmt.Sprintf("  why     %s\n  clause  %s\n\n", l.Why, l.Statement)
				}
				if _, err := fmt.Fprint(c.Stdout, line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
