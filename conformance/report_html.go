package conformance

import (
	"embed"
	"html/template"
	"io"
	"slices"
)

//go:embed report/report.html report/report.css report/report.js
var page embed.FS

// writeHTML writes r as one page that loads nothing.
func (r *Report) writeHTML(w io.Writer) error {
	file := func(name string) string {
		b, err := page.ReadFile("report/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(b)
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"plural":  plural,
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
		Parts:  r.htmlParts(),
		Tally:  r.htmlTally(),
		Open:   r.htmlOpen(),
		Mood:   r.mood(),

		Problems: r.problems(),
	})
}

type htmlPage struct {
	*Report
	Style  template.CSS
	Script template.JS
	Parts  []htmlPart
	Tally  []htmlTally
	Open   []htmlOpen
	Mood   string

	// Problems are the results that are neither passes nor skips, the worst
	// first.
	Problems []Result
}

// htmlPart is a part of the clause table.
type htmlPart struct {
	Title   string
	Clauses []htmlClause
}

// htmlClause is a clause with the checks that rest on it, the worst first.
type htmlClause struct {
	Clause
	Results []Result
	Worst   Verdict
}

// htmlTally counts the checks of a verdict.
type htmlTally struct {
	Verdict Verdict
	Word    string
	N       int
}

// htmlOpen is what the target does where the contract is silent.
type htmlOpen struct {
	Clause
	Observations []Observation
}

// severity orders verdicts, the worst first.
func severity() []Verdict { return []Verdict{Fail, Errored, Warn, Inconclusive, Pass, Skip} }

// mood colours the page's head.
func (r *Report) mood() string {
	switch {
	case r.Passed():
		return "good"
	case r.Outcome == Incomplete:
		return "unsure"
	}
	return "bad"
}

func (r *Report) htmlParts() []htmlPart {
	parts := []htmlPart{
		{Title: "The contract"}, {Title: "HTTP and the RFCs"}, {Title: "Left open by the contract"},
		{Title: "Stated by the contract, and not to be seen from outside"},
	}
	for i, clauses := range [][]Clause{contractClauses(), rfcClauses(), openClauses()} {
		for _, cl := range clauses {
			part := &parts[i]
			if cl.Untestable != "" {
				part = &parts[3]
			}
			part.Clauses = append(part.Clauses, r.htmlClause(cl))
		}
	}
	return parts
}

func (r *Report) htmlClause(cl Clause) htmlClause {
	c := htmlClause{Clause: cl}
	for _, result := range r.Results {
		if result.Check.Clause == cl.ID {
			c.Results = append(c.Results, result)
		}
	}
	slices.SortStableFunc(c.Results, func(a, b Result) int {
		return slices.Index(severity(), a.Verdict) - slices.Index(severity(), b.Verdict)
	})
	if len(c.Results) > 0 {
		c.Worst = c.Results[0].Verdict
	}
	return c
}

func (r *Report) problems() []Result {
	var list []Result
	for _, v := range severity() {
		for _, result := range r.Results {
			if result.Verdict == v && (v != Pass && v != Skip || result.Stale) {
				list = append(list, result)
			}
		}
	}
	return list
}

func (r *Report) htmlTally() []htmlTally {
	words := map[Verdict]string{Fail: "failed", Errored: "errors", Warn: "warnings", Inconclusive: "inconclusive", Pass: "passed", Skip: "skipped"}
	var tally []htmlTally
	for _, v := range severity() {
		n := 0
		for _, result := range r.Results {
			if result.Verdict == v {
				n++
			}
		}
		if n > 0 {
			tally = append(tally, htmlTally{v, words[v], n})
		}
	}
	return tally
}

func (r *Report) htmlOpen() []htmlOpen {
	var open []htmlOpen
	for _, result := range r.Results {
		if len(result.Observations) > 0 {
			open = append(open, htmlOpen{clauseOf(result.Check), result.Observations})
		}
	}
	return open
}

// glyph is the sign of a verdict, so that it is told by more than its colour.
func glyph(v Verdict) string {
	return map[Verdict]string{Pass: "✓", Fail: "✕", Warn: "!", Inconclusive: "?", Errored: "⚡", Skip: "–"}[v]
}
