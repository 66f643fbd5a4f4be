package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/animalstore/conformance/internal/probe"
)

// The limits of a comparison in Markdown. They keep it within those of a comment.
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
			fmt.Fprintf(&b, "  %s: %s -> %s\n", oneLine(r.what, maxDetailLine), oneLine(r.a, maxCell), oneLine(r.b, maxCell))
			if r.message != "" {
				fmt.Fprintf(&b, "    %s\n", oneLine(r.message, maxCell))
			}
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "A: %s: %s\nB: %s: %s\n", oneLine(name(c.A), maxCell), c.A.Headline(), oneLine(name(c.B), maxCell), c.B.Headline())
	fmt.Fprintln(&b, c.Headline())
	return b.String()
}

func (c *Comparison) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Petstore conformance: %s\n\n", c.Headline())
	fmt.Fprintf(&b, "- A: %s: %s\n- B: %s: %s\n", inCode(name(c.A)), inCode(c.A.Headline()), inCode(name(c.B)), inCode(c.B.Headline()))
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

// tables returns the parts that have something to say.
func (c *Comparison) tables() []table {
	var observed []row
	for _, d := range c.Observed {
		observed = append(observed, row{what: d.ID + ", " + d.What, a: d.A, b: d.B})
	}
	return slices.DeleteFunc([]table{
		{"worse in B", changeRows(c.Worse)},
		{"better in B", changeRows(c.Better)},
		{"other verdicts", groupRows(c.Other)},
		{"left open by the contract", observed},
	}, func(t table) bool { return len(t.rows) == 0 })
}

// changeRows returns a row for each change, with the message of B, or of A where B
// has nothing to say.
func changeRows(changes []Change) []row {
	var rows []row
	for _, c := range changes {
		rows = append(rows, row{cmp.Or(c.B.ID, c.A.ID), word(c.A), word(c.B), cmp.Or(c.B.Message, c.A.Message)})
	}
	return rows
}

// groupRows returns a row for each pair of verdicts, with all checks that have it.
func groupRows(changes []Change) []row {
	var rows []row
	var ids [][]string
	for _, r := range changeRows(changes) {
		i := slices.IndexFunc(rows, func(o row) bool { return o.a == r.a && o.b == r.b })
		if i < 0 {
			i = len(rows)
			rows, ids = append(rows, row{a: r.a, b: r.b}), append(ids, nil)
		}
		ids[i] = append(ids[i], r.what)
		rows[i].what = probe.Plural(len(ids[i]), "check") + ": " + strings.Join(ids[i], ", ")
	}
	return rows
}
