package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"example.com/animalstore/conformance"
)

// listed is a check with what its clause says.
type listed struct {
	conformance.Check
	Section   string `json:"section"`
	Statement string `json:"statement"`
}

func list(args []string, env environment) error {
	fs := newFlagSet("list")
	asJSON := fs.Bool("json", false, "print JSON: an array of objects")
	run := fs.String("run", "", "list only the checks whose ids match one of these `globs`")
	skip := fs.String("skip", "", "leave out the checks whose ids match one of these `globs`")
	if err := parse(fs, "[flags]", args, env); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return usagef("list: unexpected argument %q", fs.Arg(0))
	}
	selected, err := conformance.Select(globs(*run), globs(*skip))
	if err != nil {
		return usageError{err}
	}
	var all []listed
	for _, c := range selected {
		clause, _ := conformance.FindClause(c.Clause)
		all = append(all, listed{c, clause.Section, clause.Text})
	}
	if *asJSON {
		b, err := json.Marshal(all, jsontext.WithIndent("  "))
		if err == nil {
			_, err = fmt.Fprintf(env.stdout, "%s\n", b)
		}
		return err
	}
	for _, c := range all {
		if _, err := fmt.Fprintf(env.stdout, "%-42s %-12s %-20s %s\n", c.ID, c.Level, c.Section, c.Title); err != nil {
			return err
		}
	}
	return nil
}

func explain(args []string, env environment) error {
	fs := newFlagSet("explain")
	if err := parse(fs, "ID...", args, env); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return usagef("explain: give the id of a check; conformance list prints them")
	}
	for i, id := range fs.Args() {
		c, ok := conformance.FindCheck(id)
		if !ok {
			return usagef("explain: no check has the id %q%s", id, similar(id))
		}
		clause, _ := conformance.FindClause(c.Clause)
		writes := "GET is enough"
		if c.Writes {
			writes = "more than GET: a read-only run skips it"
		}
		if i > 0 {
			fmt.Fprintln(env.stdout)
		}
		_, err := fmt.Fprintf(env.stdout, "%s\n\n  what     %s\n  why      %s\n  clause   %s (%s)\n  failure  %s\n  level    %s\n  feature  %s\n  sends    %s\n",
			c.ID, c.Title, c.Why, clause.Text, cmp.Or(clause.Section, clause.ID), c.Failure, level(c.Level), c.Feature, writes)
		if err != nil {
			return err
		}
	}
	return nil
}

func level(l conformance.Level) string {
	return string(l) + map[conformance.Level]string{
		conformance.Required:    ": the contract states it; a violation is a failure",
		conformance.Recommended: ": an RFC asks for it and the contract does not; a violation is a warning",
		conformance.Observed:    ": the contract leaves it open; what the target does is recorded, not judged",
	}[l]
}

// similar names some checks that id may have been meant for.
func similar(id string) string {
	var near []string
	for _, c := range conformance.Checks() {
		if strings.Contains(c.ID, id) && len(near) < 5 {
			near = append(near, c.ID)
		}
	}
	if near == nil {
		return "; conformance list prints them"
	}
	return "; there is " + strings.Join(near, ", ")
}
