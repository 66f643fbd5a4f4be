package main

import (
	"cmp"
	"flag"
	"fmt"
	"strings"

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
}

func listCommand() flags.Command {
	var asJSON bool
	var run, skip string
	return flags.Command{
		Name:  "list",
		About: "list the checks: ID, level, section of the contract, title",
		Flags: func(fs *flag.FlagSet) {
			flags.Var(fs, &asJSON, "json", false, "print JSON: an array of objects", flags.Bool)
			defineSelection(fs, &run, &skip)
		},
		Run: func(c *flags.Call) error {
			selected, err := conformance.Select(globs(run), globs(skip))
			if err != nil {
				return flags.Usagef("%v", err)
			}
			var all []listed
			for _, check := range selected {
				clause, _ := conformance.FindClause(check.Clause)
				all = append(all, listed{check, clause.Section, clause.Text})
			}
			if asJSON {
				b, err := json.Marshal(all, jsontext.WithIndent("  "))
				if err == nil {
					_, err = fmt.Fprintf(c.Stdout, "%s\n", b)
				}
				return err
			}
			for _, l := range all {
				if _, err := fmt.Fprintf(c.Stdout, "%-42s %-12s %-20s %s\n", l.ID, l.Level, l.Section, l.Title); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func explainCommand() flags.Command {
	return flags.Command{
		Name:  "explain",
		Args:  "ID...",
		About: "say what a check requires, why, and what a failure looks like; list prints the IDs",
		Run: func(c *flags.Call) error {
			var texts []string
			for _, id := range c.Args {
				check, ok := conformance.FindCheck(id)
				if !ok {
					return flags.Usagef("no check has the ID %q; %s", id, similar(id))
				}
				texts = append(texts, explain(check))
			}
			_, err := fmt.Fprint(c.Stdout, strings.Join(texts, "\n"))
			return err
		},
	}
}

func explain(c conformance.Check) string {
	level := map[conformance.Level]string{
		conformance.Required:    "the contract states it; a violation is a failure",
		conformance.Recommended: "an RFC recommends it and the contract does not; a violation is a warning",
		conformance.Observed:    "the contract leaves it open; what the target does is recorded, not judged",
	}
	sends := "only GET"
	if c.Writes {
		sends = "more than GET: a read-only run skips it"
	}
	clause, _ := conformance.FindClause(c.Clause)
	return fmt.Sprintf("%s\n\n  what     %s\n  why      %s\n  clause   %s (%s)\n  failure  %s\n  level    %s: %s\n  feature  %s\n  sends    %s\n",
		c.ID, c.Title, c.Why, clause.Text, cmp.Or(clause.Section, clause.ID), c.Failure, c.Level, level[c.Level], c.Feature, sends)
}

// similar names checks whose IDs contain id.
func similar(id string) string {
	var near []string
	for _, c := range conformance.Checks() {
		if strings.Contains(c.ID, id) && len(near) < 5 {
			near = append(near, c.ID)
		}
	}
	if near == nil {
		return "conformance list prints them"
	}
	return "there is " + strings.Join(near, ", ")
}
