package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The limits of a comparison in Markdown. They keep it within the limits of a comment
// on GitHub.
const (
	maxRows  = 10     // of a table
	maxBytes = 50_000 // before the last row
)

// table is a part of a written comparison.
type table struct {
	heading string
	rows    []row
}

// row says what A and B do.
type row struct{ what, a, b, message string }

// Headline returns the number of differences, in one line.
func (c *Comparison) Headline() string {
	start := "not worse"
	if len(c.Worse) > 0 {
		start = "worse"
	}
	return fmt.Sprintf("%s: %s worse in B, %d better, %d with another verdict; %s", start,
		probe.Plural(len(c.Worse), "check"), len(c.Better), len(c.Other), probe.Plural(len(c.Observed), "other observation"))
}

// Write writes c to w as [Text] or [Markdown]. An error is from w, or says that the
// format is another one.
func (c *Comparison) Write(w io.Writer, f Format) error {
	var text string
	switch f {
	case Text:
		text = c.text()
	case Markdown:
		text = c.markdown()
	default:
		return fmt.Errorf("comparison format %q: must be %s or %s", f, Text, Markdown)
	}
	_, err := io.WriteString(w, text)
	return err
}

func (c *Comparison) text() string {
	var b strings.Builder
	for _, t := range c.tables() {
		fmt.Fprintf(&b, "%s:\n", t.heading)
		for _, r := range t.rows {
			fmt.Fprintf(&b, "  %s: %s -> %s\n", oneLine(r.what), oneLine(r.a), oneLine(r.b))
			if r.message != "" {
				fmt.Fprintf(&b, "    %s\n", oneLine(r.message))
			}
		}
		fmt.Fprintln(&b)
	}
	if c.OnlyA+c.OnlyB > 0 {
		fmt.Fprintln(&b, c.notCompared())
	}
	fmt.Fprintf(&b, "A: %s\nB: %s\n", oneLine(name(c.A)+": "+c.A.Headline()), oneLine(name(c.B)+": "+c.B.Headline()))
	fmt.Fprintln(&b, c.Headline())
	return b.String()
}

func (c *Comparison) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Petstore conformance: %s\n\n", c.Headline())
	fmt.Fprintf(&b, "- A, %s: %s\n- B, %s: %s\n", inCode(name(c.A)), inCode(c.A.Headline()), inCode(name(c.B)), inCode(c.B.Headline()))
	if c.OnlyA+c.OnlyB > 0 {
		fmt.Fprintf(&b, "- %s\n", c.notCompared())
	}
	for _, t := range c.tables() {
		fmt.Fprintf(&b, "\n| %s | A | B | |\n|---|---|---|---|\n", t.heading)
		for i, r := range t.rows {
			if i == maxRows || b.Len() > maxBytes {
				fmt.Fprintf(&b, "| %d more | | | |\n", len(t.rows)-i)
				break
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", inCell(r.what), inCell(r.a), inCell(r.b), inCell(r.message))
		}
	}
	return b.String()
}

func (c *Comparison) notCompared() string {
	return fmt.Sprintf("not compared: %s that ran only in A, %d only in B", probe.Plural(c.OnlyA, "check"), c.OnlyB)
}

// tables returns the tables that have rows.
func (c *Comparison) tables() []table {
	var observed []row
	for _, d := range c.Observed {
		observed = append(observed, row{what: d.ID + " " + d.What, a: d.A, b: d.B})
	}
	return slices.DeleteFunc([]table{
		{"worse in B", changeRows(c.Worse)},
		{"better in B", changeRows(c.Better)},
		{"other verdicts", groupRows(changeRows(c.Other), "check")},
		{"left open by the contract", groupRows(observed, "observation")},
	}, func(t table) bool { return len(t.rows) == 0 })
}

// changeRows returns a row for each change, with the message of B, or of A if B has
// none.
func changeRows(changes []Change) []row {
	var rows []row
	for _, c := range changes {
		rows = append(rows, row{cmp.Or(c.B.ID, c.A.ID), word(c.A), word(c.B), cmp.Or(c.B.Message, c.A.Message)})
	}
	return rows
}

// groupRows merges the rows with the same a and b into one, which says how many they
// are.
func groupRows(rows []row, noun string) []row {
	var groups []row
	var whats [][]string
	for _, r := range rows {
		i := slices.IndexFunc(groups, func(o row) bool { return o.a == r.a && o.b == r.b })
		if i < 0 {
			i = len(groups)
			groups, whats = append(groups, row{a: r.a, b: r.b}), append(whats, nil)
		}
		whats[i] = append(whats[i], r.what)
	}
	for i, what := range whats {
		groups[i].what = what[0]
		if len(what) > 1 {
			groups[i].what = probe.Plural(len(what), noun) + ": " + someOf(what)
		}
	}
	return groups
}

// someOf returns as many of the names as fit into a cell, and the number of the others.
func someOf(names []string) string {
	list := names[0]
	for i, name := range names[1:] {
		if len(list)+len(name) > maxLine-40 { // the rest is for the number of names
			return fmt.Sprintf("%s, and %d more", list, len(names)-i-1)
		}
		list += ", " + name
	}
	return list
}
