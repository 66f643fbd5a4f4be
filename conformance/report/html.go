package report

import (
	"embed"
	"html/template"
	"io"
	"slices"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

//go:embed report.html report.css report.js
var page embed.FS

// writeHTML writes r as one page that loads nothing.
func writeHTML(w io.Writer, r *conformance.Report) error {
	file := func(name string) string {
		b, err := page.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(b)
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"plural":  probe.Plural,
		"idRange": idRange,
		"glyph":   glyph,
	}).Parse(file("report.html"))
	if err != nil {
		return err
	}
	return t.Execute(w, htmlPage{
		Report: r,
		Style:  template.CSS(file("report.css")),
		Script: template.JS(file("report.js")),
		Parts:  htmlParts(r),
		Tally:  htmlTallies(r),
		Open:   htmlObservations(r),
		Mood:   mood(r),

		Problems: problems(r),
	})
}

type htmlPage struct {
	*conformance.Report
	Style  template.CSS
	Script template.JS
	Parts  []htmlPart
	Tally  []htmlTally
	Open   []htmlOpen
	Mood   string

	// Problems are the results that are neither passes nor skips, the worst
	// first.
	Problems []conformance.Result
}

// htmlPart is a part of the clause table.
type htmlPart struct {
	Title   string
	Clauses []htmlClause
}

// htmlClause is a clause with the results of its checks, the worst first.
type htmlClause struct {
	conformance.Clause
	Results []conformance.Result
	Worst   conformance.Verdict
}

// htmlTally counts the checks of a verdict.
type htmlTally struct {
	Verdict conformance.Verdict
	Word    string
	N       int
}

// htmlOpen is what the target does where the contract leaves it open.
type htmlOpen struct {
	conformance.Clause
	Observations []conformance.Observation
}

// severity orders verdicts, the worst first.
func severity() []conformance.Verdict {
	return []conformance.Verdict{
		conformance.Fail, conformance.Errored, conformance.Warn, conformance.Inconclusive, conformance.Pass, conformance.Skip,
	}
}

// mood is the class of the page's header, which sets its color.
func mood(r *conformance.Report) string {
	switch {
	case r.Passed():
		return "good"
	case r.Outcome == conformance.Incomplete:
		return "unsure"
	}
	return "bad"
}

func htmlParts(r *conformance.Report) []htmlPart {
	parts := []htmlPart{
		{Title: "The contract"}, {Title: "HTTP and the RFCs"}, {Title: "Left open by the contract"},
		{Title: "Stated by the contract and not testable from outside"},
	}
	for _, cl := range conformance.Clauses() {
		part := &parts[slices.Index([]conformance.Level{conformance.Required, conformance.Recommended, conformance.Observed}, cl.Level())]
		if cl.Untestable != "" {
			part = &parts[3]
		}
		part.Clauses = append(part.Clauses, newHTMLClause(r, cl))
	}
	return parts
}

func newHTMLClause(r *conformance.Report, cl conformance.Clause) htmlClause {
	c := htmlClause{Clause: cl}
	for _, v := range severity() {
		for _, result := range with(r, v) {
			if result.Check.Clause == cl.ID {
				c.Results = append(c.Results, result)
			}
		}
	}
	if len(c.Results) > 0 {
		c.Worst = c.Results[0].Verdict
	}
	return c
}

func problems(r *conformance.Report) []conformance.Result {
	var list []conformance.Result
	for _, v := range severity() {
		for _, result := range with(r, v) {
			if v != conformance.Pass && v != conformance.Skip || result.Stale {
				list = append(list, result)
			}
		}
	}
	return list
}

func htmlTallies(r *conformance.Report) []htmlTally {
	words := map[conformance.Verdict]string{
		conformance.Fail: "failed", conformance.Errored: "errors", conformance.Warn: "warnings",
		conformance.Inconclusive: "inconclusive", conformance.Pass: "passed", conformance.Skip: "skipped",
	}
	var tallies []htmlTally
	for _, v := range severity() {
		if n := len(with(r, v)); n > 0 {
			tallies = append(tallies, htmlTally{v, words[v], n})
		}
	}
	return tallies
}

func htmlObservations(r *conformance.Report) []htmlOpen {
	var open []htmlOpen
	for _, result := range r.Results {
		if len(result.Observations) > 0 {
			cl, _ := conformance.FindClause(result.Check.Clause)
			open = append(open, htmlOpen{cl, result.Observations})
		}
	}
	return open
}

// glyph returns the sign of a verdict, so that it differs in more than color.
func glyph(v conformance.Verdict) string {
	return map[conformance.Verdict]string{
		conformance.Pass: "✓", conformance.Fail: "✕", conformance.Warn: "!",
		conformance.Inconclusive: "?", conformance.Errored: "⚡", conformance.Skip: "–",
	}[v]
}
